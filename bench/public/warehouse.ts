import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/**
 * Reports over a warehouse of sales and returns, of the kinds that decision-support benches ask for: parts above the average of their group, customers of
 * two channels, sets of people, ranks and sums over groups, shares, weeks a year apart.
 */
export const WAREHOUSE: readonly Question[] = [
  q(
    'warehouse_brands_in_november',
    `SELECT EXTRACT(YEAR FROM s.__time) AS y, i.brand, i.class, SUM(s.salesPrice) AS r FROM sales s JOIN items i ON s.item = i.id WHERE i.category = 'Music' AND EXTRACT(MONTH FROM s.__time) = 11 GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC, 2, 3 LIMIT 100`,
  ),
  q(
    'warehouse_averages_of_items',
    `SELECT i.id, AVG(s.quantity), AVG(s.listPrice), AVG(s.salesPrice), AVG(s.wholesale) FROM sales s JOIN customers c ON s.customer = c.id JOIN items i ON s.item = i.id WHERE c.gender = 'F' AND c.education = 'Primary' AND (s.promo < 30 OR s.promo > 280) GROUP BY 1 ORDER BY 1 LIMIT 100`,
  ),
  q(
    'warehouse_choice_of_averages',
    `SELECT CASE WHEN (SELECT COUNT(*) FROM sales WHERE quantity BETWEEN 1 AND 20) > 500000 THEN (SELECT AVG(listPrice) FROM sales WHERE quantity BETWEEN 1 AND 20) ELSE (SELECT AVG(salesPrice) FROM sales WHERE quantity BETWEEN 1 AND 20) END AS b1, CASE WHEN (SELECT COUNT(*) FROM sales WHERE quantity BETWEEN 21 AND 40) > 700000 THEN (SELECT AVG(listPrice) FROM sales WHERE quantity BETWEEN 21 AND 40) ELSE (SELECT AVG(salesPrice) FROM sales WHERE quantity BETWEEN 21 AND 40) END AS b2 FROM zones WHERE zone = 1`,
  ),
  q(
    'warehouse_or_of_conditions',
    `SELECT AVG(s.quantity), AVG(s.salesPrice), SUM(s.wholesale), COUNT(*) FROM sales s JOIN customers c ON s.customer = c.id WHERE (c.gender = 'M' AND c.education = 'College' AND s.salesPrice BETWEEN 50 AND 100) OR (c.gender = 'F' AND c.education = 'Primary' AND s.salesPrice BETWEEN 10 AND 50) OR (c.state = 'TX' AND s.quantity > 90)`,
  ),
  q(
    'warehouse_above_item_average',
    `SELECT COUNT(*) FROM (SELECT customer, item, SUM(amount) AS t FROM returns GROUP BY 1, 2) a JOIN (SELECT item, AVG(t) * 1.2 AS lim FROM (SELECT customer, item, SUM(amount) AS t FROM returns GROUP BY 1, 2) GROUP BY 1) b ON a.item = b.item WHERE a.t > b.lim`,
  ),
  q(
    'warehouse_above_item_average_correlated',
    `WITH ctr AS (SELECT customer, item, SUM(amount) AS t FROM returns GROUP BY 1, 2) SELECT COUNT(*) FROM ctr a WHERE a.t > (SELECT AVG(b.t) * 1.2 FROM ctr b WHERE a.item = b.item)`,
  ),
  q(
    'warehouse_growing_customers',
    `WITH yt AS (SELECT customer, EXTRACT(YEAR FROM __time) AS y, SUM((listPrice - wholesale) * quantity) AS t FROM sales GROUP BY 1, 2) SELECT c.state, COUNT(*) FROM yt a JOIN yt b ON a.customer = b.customer JOIN customers c ON c.id = a.customer WHERE a.y = 2023 AND b.y = 2024 AND a.t > 0 AND b.t / a.t > 1.5 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'warehouse_dear_items_by_state',
    `SELECT c.state, COUNT(*) AS n FROM sales s JOIN customers c ON s.customer = c.id JOIN items i ON s.item = i.id WHERE i.price > 1.2 * (SELECT AVG(j.price) FROM items j WHERE j.category = i.category) GROUP BY 1 HAVING COUNT(*) >= 10 ORDER BY 2, 1`,
  ),
  q(
    'warehouse_zips_of_returners',
    `SELECT COUNT(*), SUM(salesPrice) FROM sales WHERE customer IN (SELECT id FROM customers WHERE SUBSTRING(zip, 1, 2) IN ('24', '35', '77', '91') INTERSECT SELECT customer FROM returns WHERE quantity > 20)`,
  ),
  q(
    'warehouse_bought_and_returned',
    `SELECT c.gender, c.education, COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM sales s WHERE s.customer = c.id AND s.__time < TIMESTAMP '2023-03-01 00:00:00') AND EXISTS (SELECT 1 FROM returns r WHERE r.customer = c.id AND r.quantity > 30) GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'warehouse_bought_or_returned',
    `SELECT c.gender, c.education, COUNT(*) FROM customers c WHERE c.id IN (SELECT s.customer FROM sales s WHERE s.store = 5) OR c.id IN (SELECT r.customer FROM returns r WHERE r.reason = 'late') GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'warehouse_brands_above_average',
    `SELECT i.brand, i.class, SUM(s.quantity * s.listPrice), COUNT(*) FROM sales s JOIN items i ON s.item = i.id WHERE i.brand IN (SELECT j.brand FROM returns r JOIN items j ON r.item = j.id WHERE r.reason = 'late' AND r.quantity = 40) GROUP BY 1, 2 HAVING SUM(s.quantity * s.listPrice) > (SELECT AVG(quantity * listPrice) FROM sales) ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'warehouse_tickets_of_two_stores',
    `SELECT COUNT(DISTINCT a.ticket), SUM(a.salesPrice) FROM sales a WHERE a.store < 10 AND EXISTS (SELECT 1 FROM sales b WHERE b.ticket = a.ticket AND b.store <> a.store) AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.ticket = a.ticket)`,
  ),
  q(
    'warehouse_states_and_categories',
    `SELECT c.state, i.category, GROUPING(c.state, i.category) AS g, AVG(CAST(s.quantity AS DOUBLE)), AVG(s.listPrice), AVG(c.birthYear) FROM sales s JOIN customers c ON s.customer = c.id JOIN items i ON s.item = i.id WHERE c.gender = 'F' AND c.education = 'Unknown' GROUP BY ROLLUP (c.state, i.category) ORDER BY 3, 1, 2`,
  ),
  q(
    'warehouse_before_and_after',
    `SELECT store, item, SUM(CASE WHEN __time < TIMESTAMP '2024-01-01 00:00:00' THEN quantity ELSE 0 END) AS before, SUM(CASE WHEN __time >= TIMESTAMP '2024-01-01 00:00:00' THEN quantity ELSE 0 END) AS after FROM sales WHERE item BETWEEN 100 AND 400 GROUP BY 1, 2 HAVING SUM(CASE WHEN __time < TIMESTAMP '2024-01-01 00:00:00' THEN quantity ELSE 0 END) > 0 ORDER BY 4 DESC, 1, 2 LIMIT 100`,
  ),
  q(
    'warehouse_rollup_of_items',
    `SELECT i.category, i.class, i.brand, i.id, AVG(s.quantity) AS q FROM sales s JOIN items i ON s.item = i.id GROUP BY ROLLUP (i.category, i.class, i.brand, i.id) ORDER BY 5, 1, 2, 3, 4 LIMIT 100`,
  ),
  q(
    'warehouse_frequent_items_best_customers',
    `SELECT COUNT(*), SUM(s.quantity * s.listPrice) FROM sales s WHERE s.item IN (SELECT item FROM sales GROUP BY item, FLOOR(__time TO DAY) HAVING COUNT(*) > 4) AND s.customer IN (SELECT customer FROM sales GROUP BY 1 HAVING SUM(quantity * salesPrice) > 60000)`,
    `SELECT COUNT(*), SUM(s.quantity * s.listPrice) FROM sales s WHERE s.item IN (SELECT item FROM sales GROUP BY item, date_trunc('DAY', __time) HAVING COUNT(*) > 4) AND s.customer IN (SELECT customer FROM sales GROUP BY 1 HAVING SUM(quantity * salesPrice) > 60000)`,
  ),
  q(
    'warehouse_sold_and_returned',
    `SELECT i.id, i.brand, s.store, SUM(s.salesPrice), SUM(r.amount) FROM sales s JOIN returns r ON s.customer = r.customer AND s.item = r.item JOIN items i ON i.id = s.item GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 100`,
  ),
  q(
    'warehouse_six_figures',
    `SELECT a.l, a.n, a.d, b.l, b.n, b.d FROM (SELECT AVG(listPrice) AS l, COUNT(listPrice) AS n, COUNT(DISTINCT listPrice) AS d FROM sales WHERE quantity BETWEEN 0 AND 5 AND (listPrice BETWEEN 8 AND 18 OR wholesale BETWEEN 57 AND 77)) a CROSS JOIN (SELECT AVG(listPrice) AS l, COUNT(listPrice) AS n, COUNT(DISTINCT listPrice) AS d FROM sales WHERE quantity BETWEEN 6 AND 10 AND (listPrice BETWEEN 90 AND 100 OR wholesale BETWEEN 30 AND 50)) b`,
  ),
  q(
    'warehouse_quarters_by_state',
    `WITH ss AS (SELECT c.state AS state, EXTRACT(QUARTER FROM s.__time) AS q, SUM(s.salesPrice) AS t FROM sales s JOIN customers c ON s.customer = c.id WHERE EXTRACT(YEAR FROM s.__time) = 2023 GROUP BY 1, 2), rr AS (SELECT c.state AS state, EXTRACT(QUARTER FROM r.__time) AS q, SUM(r.amount) AS t FROM returns r JOIN customers c ON r.customer = c.id WHERE EXTRACT(YEAR FROM r.__time) = 2023 GROUP BY 1, 2) SELECT a.state, b.t / a.t, d.t / e.t FROM ss a JOIN ss b ON a.state = b.state JOIN rr e ON e.state = a.state JOIN rr d ON d.state = a.state WHERE a.q = 1 AND b.q = 2 AND e.q = 1 AND d.q = 2 ORDER BY 1`,
  ),
  q(
    'warehouse_tickets_of_few_stores',
    `SELECT c.lastName, c.firstName, t.ticket, t.n FROM (SELECT ticket, customer, COUNT(*) AS n FROM sales WHERE store IN (3, 7, 9, 12) GROUP BY 1, 2) t JOIN customers c ON t.customer = c.id WHERE t.n >= 2 ORDER BY 1, 2, 3, 4 LIMIT 100`,
  ),
  q(
    'warehouse_margins_ranked',
    `SELECT SUM(s.salesPrice - s.wholesale) / SUM(s.salesPrice) AS m, i.category, i.class, GROUPING(i.category, i.class) AS lochierarchy, RANK() OVER (PARTITION BY GROUPING(i.category, i.class) ORDER BY SUM(s.salesPrice - s.wholesale) / SUM(s.salesPrice)) AS k FROM sales s JOIN items i ON s.item = i.id WHERE s.store < 30 GROUP BY ROLLUP (i.category, i.class) ORDER BY 4, 5, 2, 3`,
  ),
  q(
    'warehouse_people_in_both',
    `SELECT COUNT(*) FROM (SELECT c.lastName, c.firstName, FLOOR(s.__time TO MONTH) AS m FROM sales s JOIN customers c ON s.customer = c.id INTERSECT SELECT c.lastName, c.firstName, FLOOR(r.__time TO MONTH) AS m FROM returns r JOIN customers c ON r.customer = c.id)`,
    `SELECT COUNT(*) FROM (SELECT c.lastName, c.firstName, date_trunc('MONTH', s.__time) AS m FROM sales s JOIN customers c ON s.customer = c.id INTERSECT SELECT c.lastName, c.firstName, date_trunc('MONTH', r.__time) AS m FROM returns r JOIN customers c ON r.customer = c.id)`,
  ),
  q(
    'warehouse_spread_of_quantities',
    `SELECT store, item, m, s / m AS cov FROM (SELECT store, item, STDDEV_SAMP(quantity) AS s, AVG(quantity) AS m FROM sales WHERE item < 200 GROUP BY 1, 2) WHERE m > 0 AND s / m > 0.9 ORDER BY 4 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'warehouse_manufacturers_of_colors',
    `SELECT DISTINCT i.manufact FROM items i WHERE (SELECT COUNT(*) FROM items j WHERE j.manufact = i.manufact AND (j.category = 'Women' AND j.color IN ('red', 'peach') OR j.category = 'Men' AND j.color IN ('blue', 'black'))) > 2 ORDER BY 1 LIMIT 100`,
  ),
  q(
    'warehouse_best_and_worst',
    `SELECT a.item, a.m, b.item AS worst FROM (SELECT item, m, RANK() OVER (ORDER BY m DESC, item) AS k FROM (SELECT item, AVG(salesPrice) AS m FROM sales WHERE store = 4 GROUP BY 1)) a JOIN (SELECT item, RANK() OVER (ORDER BY m, item) AS k FROM (SELECT item, AVG(salesPrice) AS m FROM sales WHERE store = 4 GROUP BY 1)) b ON a.k = b.k WHERE a.k <= 10 ORDER BY a.k`,
  ),
  q(
    'warehouse_months_around',
    `WITH v AS (SELECT i.category AS category, i.brand AS brand, EXTRACT(YEAR FROM s.__time) AS y, EXTRACT(MONTH FROM s.__time) AS m, SUM(s.salesPrice) AS t, AVG(SUM(s.salesPrice)) OVER (PARTITION BY i.category, i.brand, EXTRACT(YEAR FROM s.__time)) AS a, RANK() OVER (PARTITION BY i.category, i.brand ORDER BY EXTRACT(YEAR FROM s.__time), EXTRACT(MONTH FROM s.__time)) AS k FROM sales s JOIN items i ON s.item = i.id GROUP BY i.category, i.brand, EXTRACT(YEAR FROM s.__time), EXTRACT(MONTH FROM s.__time)) SELECT v.category, v.brand, v.y, v.m, v.t, v.a, l.t AS p, n.t AS nx FROM v JOIN v l ON v.category = l.category AND v.brand = l.brand AND v.k = l.k + 1 JOIN v n ON v.category = n.category AND v.brand = n.brand AND v.k = n.k - 1 WHERE v.y = 2024 AND v.a > 0 AND ABS(v.t - v.a) / v.a > 0.8 ORDER BY v.t - v.a, 1, 2, 3, 4 LIMIT 100`,
  ),
  q(
    'warehouse_worst_return_ratios',
    `SELECT k, item, ratio FROM (SELECT 'store' AS k, item, ratio, RANK() OVER (ORDER BY ratio, item) AS p FROM (SELECT s.item AS item, SUM(r.quantity) * 1.0 / SUM(s.quantity) AS ratio FROM sales s LEFT JOIN returns r ON s.ticket = r.ticket AND s.item = r.item WHERE s.salesPrice > 100 GROUP BY 1)) WHERE p <= 10 ORDER BY 1, 3, 2`,
  ),
  q(
    'warehouse_running_sums',
    `SELECT COUNT(*), SUM(c) FROM (SELECT item, d, SUM(t) OVER (PARTITION BY item ORDER BY d) AS c FROM (SELECT item, FLOOR(__time TO DAY) AS d, SUM(salesPrice) AS t FROM sales WHERE item < 2000 GROUP BY 1, 2))`,
    `SELECT COUNT(*), SUM(c) FROM (SELECT item, d, SUM(t) OVER (PARTITION BY item ORDER BY d) AS c FROM (SELECT item, date_trunc('DAY', __time) AS d, SUM(salesPrice) AS t FROM sales WHERE item < 2000 GROUP BY 1, 2))`,
  ),
  q(
    'warehouse_quarters_off_average',
    `SELECT manufact, q, t, a FROM (SELECT i.manufact AS manufact, EXTRACT(QUARTER FROM s.__time) AS q, SUM(s.salesPrice) AS t, AVG(SUM(s.salesPrice)) OVER (PARTITION BY i.manufact) AS a FROM sales s JOIN items i ON s.item = i.id WHERE i.category IN ('Books', 'Children', 'Electronics') AND EXTRACT(YEAR FROM s.__time) = 2024 GROUP BY 1, 2) WHERE a > 0 AND ABS(t - a) / a > 0.3 ORDER BY 4, 3, 1, 2 LIMIT 100`,
  ),
  q(
    'warehouse_segments_of_revenue',
    `WITH my AS (SELECT DISTINCT s.customer AS cu FROM sales s JOIN items i ON s.item = i.id WHERE i.category = 'Women' AND i.color = 'red' AND s.__time >= TIMESTAMP '2023-12-01 00:00:00' AND s.__time < TIMESTAMP '2024-01-01 00:00:00'), rev AS (SELECT my.cu, SUM(s.salesPrice) AS r FROM my JOIN sales s ON my.cu = s.customer WHERE s.__time >= TIMESTAMP '2024-01-01 00:00:00' AND s.__time < TIMESTAMP '2024-04-01 00:00:00' GROUP BY 1) SELECT CAST(FLOOR(r / 50) AS BIGINT) AS seg, COUNT(*) FROM rev GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'warehouse_weeks_a_year_apart',
    `WITH w AS (SELECT store, TIME_FLOOR(__time, 'P1W') AS wk, SUM(CASE WHEN EXTRACT(DOW FROM __time) = 1 THEN salesPrice END) AS mon, SUM(CASE WHEN EXTRACT(DOW FROM __time) = 5 THEN salesPrice END) AS fri FROM sales GROUP BY 1, 2) SELECT a.store, a.wk, a.mon / b.mon, a.fri / b.fri FROM w a JOIN w b ON a.store = b.store AND TIMESTAMPADD(DAY, -364, a.wk) = b.wk ORDER BY 1, 2 LIMIT 100`,
    `WITH w AS (SELECT store, date_trunc('week', __time) AS wk, SUM(CASE WHEN isodow(__time) = 1 THEN salesPrice END) AS mon, SUM(CASE WHEN isodow(__time) = 5 THEN salesPrice END) AS fri FROM sales GROUP BY 1, 2) SELECT a.store, a.wk, a.mon / b.mon, a.fri / b.fri FROM w a JOIN w b ON a.store = b.store AND a.wk - INTERVAL 364 DAY = b.wk ORDER BY 1, 2 LIMIT 100`,
  ),
  q(
    'warehouse_share_of_promotions',
    `SELECT p, t, p * 100 / t FROM (SELECT SUM(salesPrice) AS p FROM sales s JOIN items i ON s.item = i.id WHERE i.category = 'Jewelry' AND s.promo < 100) a CROSS JOIN (SELECT SUM(salesPrice) AS t FROM sales s JOIN items i ON s.item = i.id WHERE i.category = 'Jewelry') b`,
  ),
  q(
    'warehouse_weak_items',
    `SELECT s.store, i.brand, a.r FROM (SELECT store, AVG(r) AS av FROM (SELECT store, item, SUM(salesPrice) AS r FROM sales GROUP BY 1, 2) GROUP BY 1) s JOIN (SELECT store, item, SUM(salesPrice) AS r FROM sales GROUP BY 1, 2) a ON s.store = a.store JOIN items i ON i.id = a.item WHERE a.r <= 0.01 * s.av ORDER BY 1, 2, 3 LIMIT 100`,
  ),
  q(
    'warehouse_best_of_rollup',
    `SELECT category, brand, m, t, k FROM (SELECT category, brand, m, t, RANK() OVER (PARTITION BY category ORDER BY t DESC) AS k FROM (SELECT i.category AS category, i.brand AS brand, EXTRACT(MONTH FROM s.__time) AS m, SUM(s.salesPrice * s.quantity) AS t FROM sales s JOIN items i ON s.item = i.id GROUP BY ROLLUP (i.category, i.brand, EXTRACT(MONTH FROM s.__time)))) WHERE k <= 10 ORDER BY 1, 5, 2, 3`,
  ),
  q(
    'warehouse_best_states',
    `SELECT state, SUM(t) FROM (SELECT c.state AS state, s.salesPrice AS t FROM sales s JOIN customers c ON s.customer = c.id WHERE c.state IN (SELECT state FROM (SELECT c.state AS state, RANK() OVER (ORDER BY SUM(s.salesPrice) DESC) AS k FROM sales s JOIN customers c ON s.customer = c.id GROUP BY 1) WHERE k <= 5)) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'warehouse_hours_of_both',
    `SELECT i.brand, h, SUM(p) FROM items i JOIN (SELECT salesPrice AS p, item AS it, EXTRACT(HOUR FROM __time) AS h FROM sales WHERE store < 20 UNION ALL SELECT amount AS p, item AS it, EXTRACT(HOUR FROM __time) AS h FROM returns WHERE reason = 'late') t ON t.it = i.id WHERE i.manufact = 'manufact77' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  ),
  q(
    'warehouse_fewer_returned',
    `SELECT i.brand, COUNT(*), SUM(CASE WHEN r.reason IS NULL THEN 1 ELSE 0 END) FROM sales s JOIN items i ON s.item = i.id LEFT JOIN returns r ON r.ticket = s.ticket AND r.item = s.item WHERE s.quantity > r.quantity OR r.quantity IS NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50`,
  ),
  q(
    'warehouse_brands_that_shrink',
    `SELECT cur.brand, cur.q, prev.q FROM (SELECT i.brand AS brand, SUM(u.q) AS q FROM (SELECT item, quantity AS q, __time AS t FROM sales UNION ALL SELECT item, -quantity AS q, __time AS t FROM returns) u JOIN items i ON u.item = i.id WHERE EXTRACT(YEAR FROM u.t) = 2024 GROUP BY 1) cur JOIN (SELECT i.brand AS brand, SUM(u.q) AS q FROM (SELECT item, quantity AS q, __time AS t FROM sales UNION ALL SELECT item, -quantity AS q, __time AS t FROM returns) u JOIN items i ON u.item = i.id WHERE EXTRACT(YEAR FROM u.t) = 2023 GROUP BY 1) prev ON cur.brand = prev.brand WHERE cur.q * 1.0 / prev.q < 0.95 ORDER BY 2, 1 LIMIT 50`,
  ),
  q(
    'warehouse_never_returned_sales',
    `SELECT COUNT(*), SUM(sq) FROM (SELECT s.item, s.customer, SUM(s.quantity) AS sq FROM sales s LEFT JOIN returns r ON r.ticket = s.ticket AND s.item = r.item WHERE r.ticket IS NULL AND EXTRACT(YEAR FROM s.__time) = 2024 GROUP BY 1, 2)`,
  ),
  q(
    'warehouse_above_state_average',
    `SELECT a.customer, a.t FROM (SELECT r.customer AS customer, c.state AS state, SUM(r.amount) AS t FROM returns r JOIN customers c ON r.customer = c.id GROUP BY 1, 2) a JOIN (SELECT state, AVG(t) * 1.2 AS lim FROM (SELECT r.customer AS customer, c.state AS state, SUM(r.amount) AS t FROM returns r JOIN customers c ON r.customer = c.id GROUP BY 1, 2) GROUP BY 1) b ON a.state = b.state WHERE a.t > b.lim ORDER BY 2 DESC, 1 LIMIT 50`,
  ),
  q(
    'warehouse_people_who_never_returned',
    `SELECT COUNT(*) FROM (SELECT c.lastName, c.firstName FROM sales s JOIN customers c ON s.customer = c.id WHERE s.store < 50 EXCEPT SELECT c.lastName, c.firstName FROM returns r JOIN customers c ON r.customer = c.id)`,
  ),
  q(
    'warehouse_hours_side_by_side',
    `SELECT * FROM (SELECT COUNT(*) AS a FROM sales WHERE EXTRACT(HOUR FROM __time) = 8 AND store = 3) CROSS JOIN (SELECT COUNT(*) AS b FROM sales WHERE EXTRACT(HOUR FROM __time) = 9 AND store = 3) CROSS JOIN (SELECT COUNT(*) AS c FROM sales WHERE EXTRACT(HOUR FROM __time) = 10 AND store = 3) CROSS JOIN (SELECT COUNT(*) AS d FROM sales WHERE EXTRACT(HOUR FROM __time) = 11 AND store = 3)`,
  ),
  q(
    'warehouse_months_off_average',
    `SELECT category, brand, m, t, a FROM (SELECT i.category AS category, i.brand AS brand, EXTRACT(MONTH FROM s.__time) AS m, SUM(s.salesPrice) AS t, AVG(SUM(s.salesPrice)) OVER (PARTITION BY i.category, i.brand) AS a FROM sales s JOIN items i ON s.item = i.id WHERE EXTRACT(YEAR FROM s.__time) = 2023 AND i.class LIKE '%-3' GROUP BY 1, 2, 3) WHERE a <> 0 AND ABS(t - a) / a > 0.1 ORDER BY t - a, 1, 2, 3 LIMIT 100`,
  ),
  q(
    'warehouse_net_sales',
    `SELECT customer, SUM(CASE WHEN rq IS NOT NULL THEN (q - rq) * p ELSE q * p END) AS t FROM (SELECT s.customer AS customer, s.quantity AS q, s.salesPrice AS p, r.quantity AS rq FROM sales s LEFT JOIN returns r ON r.item = s.item AND r.ticket = s.ticket) GROUP BY 1 ORDER BY 2, 1 LIMIT 100`,
  ),
  q(
    'warehouse_shipped_from_two',
    `WITH ws AS (SELECT DISTINCT a.ticket AS ticket FROM sales a JOIN sales b ON a.ticket = b.ticket WHERE a.store <> b.store) SELECT COUNT(DISTINCT s.ticket), SUM(s.salesPrice) FROM sales s WHERE s.store = 8 AND s.ticket IN (SELECT ticket FROM ws) AND s.ticket IN (SELECT r.ticket FROM returns r JOIN ws ON r.ticket = ws.ticket)`,
  ),
  q(
    'warehouse_overlap',
    `SELECT SUM(CASE WHEN a.customer IS NOT NULL AND b.customer IS NULL THEN 1 ELSE 0 END), SUM(CASE WHEN a.customer IS NULL AND b.customer IS NOT NULL THEN 1 ELSE 0 END), SUM(CASE WHEN a.customer IS NOT NULL AND b.customer IS NOT NULL THEN 1 ELSE 0 END) FROM (SELECT customer, item FROM sales WHERE customer IS NOT NULL GROUP BY 1, 2) a FULL JOIN (SELECT customer, item FROM returns GROUP BY 1, 2) b ON a.customer = b.customer AND a.item = b.item`,
  ),
  q(
    'warehouse_share_of_class',
    `SELECT i.category, i.class, i.id, SUM(s.salesPrice) AS t, SUM(s.salesPrice) * 100 / SUM(SUM(s.salesPrice)) OVER (PARTITION BY i.class) AS r FROM sales s JOIN items i ON s.item = i.id WHERE i.category IN ('Shoes', 'Men') AND s.__time >= TIMESTAMP '2023-05-01 00:00:00' AND s.__time < TIMESTAMP '2023-06-01 00:00:00' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3, 5 LIMIT 100`,
  ),
  q(
    'warehouse_days_until_return',
    `SELECT SUBSTRING(i.brand, 1, 8) AS b, s.store, SUM(CASE WHEN r.__time < TIMESTAMPADD(DAY, 30, s.__time) THEN 1 ELSE 0 END), SUM(CASE WHEN r.__time >= TIMESTAMPADD(DAY, 30, s.__time) THEN 1 ELSE 0 END) FROM sales s JOIN returns r ON s.ticket = r.ticket JOIN items i ON s.item = i.id GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
    `SELECT SUBSTRING(i.brand, 1, 8) AS b, s.store, SUM(CASE WHEN r.__time < s.__time + INTERVAL 30 DAY THEN 1 ELSE 0 END), SUM(CASE WHEN r.__time >= s.__time + INTERVAL 30 DAY THEN 1 ELSE 0 END) FROM sales s JOIN returns r ON s.ticket = r.ticket JOIN items i ON s.item = i.id GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100`,
  ),
];
