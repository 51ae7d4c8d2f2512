import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Sales, returns, customers and items of a retailer: shares, ranks by month, who never brought anything back. */
export const RETAIL: readonly Question[] = [
  q(
    'retail_brand_year',
    `SELECT EXTRACT(YEAR FROM s.__time) AS y, i.brand, SUM(s.salesPrice * s.quantity) AS r FROM sales s JOIN items i ON s.item = i.id WHERE i.manufact = 'manufact128' GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2 LIMIT 100`,
  ),
  q(
    'retail_class_share',
    `SELECT category, class, r, r * 100 / SUM(r) OVER (PARTITION BY category) AS share FROM (SELECT i.category AS category, i.class AS class, SUM(s.salesPrice) AS r FROM sales s JOIN items i ON s.item = i.id WHERE i.category IN ('Books', 'Home', 'Sports') AND s.__time >= TIMESTAMP '2023-02-01 00:00:00' AND s.__time < TIMESTAMP '2023-05-01 00:00:00' GROUP BY 1, 2) ORDER BY 1, 2`,
  ),
  q(
    'retail_demo',
    `SELECT i.category, c.gender, c.education, AVG(s.quantity), AVG(s.listPrice), AVG(s.salesPrice) FROM sales s JOIN customers c ON s.customer = c.id JOIN items i ON s.item = i.id WHERE c.gender = 'M' AND c.education = 'College' GROUP BY 1, 2, 3 ORDER BY 1`,
  ),
  q(
    'retail_state_over',
    `SELECT c.state, COUNT(*) FROM sales s JOIN customers c ON s.customer = c.id JOIN items i ON s.item = i.id JOIN (SELECT category, AVG(price) AS a FROM items GROUP BY 1) m ON i.category = m.category WHERE i.price > 1.2 * m.a GROUP BY 1 HAVING COUNT(*) >= 10 ORDER BY 2, 1`,
  ),
  q(
    'retail_ticket',
    `SELECT COUNT(*), AVG(n), MAX(total) FROM (SELECT ticket, customer, COUNT(*) AS n, SUM(salesPrice * quantity) AS total FROM sales GROUP BY 1, 2 HAVING COUNT(*) > 3)`,
  ),
  q(
    'retail_returned',
    `SELECT r.reason, COUNT(*), SUM(r.amount) FROM returns r JOIN customers c ON r.customer = c.id WHERE c.birthYear > 1980 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'retail_sale_and_return',
    `SELECT i.category, COUNT(*), SUM(s.quantity), SUM(r.quantity) FROM sales s JOIN returns r ON s.ticket = r.ticket AND s.item = r.item JOIN items i ON s.item = i.id GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'retail_top_customers',
    `SELECT c.lastName, c.firstName, t.total FROM (SELECT customer, SUM(salesPrice * quantity) AS total FROM sales GROUP BY 1) t JOIN customers c ON t.customer = c.id ORDER BY 3 DESC, 1, 2 LIMIT 100`,
  ),
  q(
    'retail_year_over_year',
    `SELECT COUNT(*), AVG(b.t / a.t) FROM (SELECT customer, SUM(salesPrice) AS t FROM sales WHERE __time < TIMESTAMP '2024-01-01 00:00:00' GROUP BY 1) a JOIN (SELECT customer, SUM(salesPrice) AS t FROM sales WHERE __time >= TIMESTAMP '2024-01-01 00:00:00' GROUP BY 1) b ON a.customer = b.customer WHERE a.t > 0`,
  ),
  q(
    'retail_rollup',
    `SELECT i.category, i.class, SUM(s.quantity) FROM sales s JOIN items i ON s.item = i.id WHERE s.store < 20 GROUP BY ROLLUP (i.category, i.class) ORDER BY 1, 2`,
  ),
  q(
    'retail_quantities',
    `SELECT CASE WHEN quantity BETWEEN 1 AND 20 THEN 'a' WHEN quantity BETWEEN 21 AND 40 THEN 'b' WHEN quantity BETWEEN 41 AND 60 THEN 'c' ELSE 'd' END AS g, COUNT(*), AVG(listPrice), COUNT(DISTINCT listPrice) FROM sales GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'retail_zip',
    `SELECT SUBSTRING(c.zip, 1, 2), SUM(s.salesPrice) FROM sales s JOIN customers c ON s.customer = c.id WHERE c.state IN ('CA', 'WA', 'GA') OR s.salesPrice > 150 GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'retail_month_rank',
    `SELECT category, m, r, k FROM (SELECT i.category AS category, FLOOR(s.__time TO MONTH) AS m, SUM(s.salesPrice) AS r, RANK() OVER (PARTITION BY i.category ORDER BY SUM(s.salesPrice) DESC) AS k FROM sales s JOIN items i ON s.item = i.id GROUP BY 1, 2) WHERE k <= 3 ORDER BY 1, 4, 2`,
    `SELECT category, m, r, k FROM (SELECT i.category AS category, date_trunc('MONTH', s.__time) AS m, SUM(s.salesPrice) AS r, RANK() OVER (PARTITION BY i.category ORDER BY SUM(s.salesPrice) DESC) AS k FROM sales s JOIN items i ON s.item = i.id GROUP BY 1, 2) WHERE k <= 3 ORDER BY 1, 4, 2`,
  ),
  q('retail_never_returned', `SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM returns r WHERE r.customer = c.id)`),
  q('retail_in_both', `SELECT COUNT(*) FROM (SELECT customer FROM sales WHERE store = 3 INTERSECT SELECT customer FROM returns)`),
  q(
    'retail_colors',
    `SELECT i.color, i.brand, COUNT(DISTINCT s.customer) FROM sales s JOIN items i ON s.item = i.id WHERE i.color IN ('red', 'peach') AND s.quantity > 90 GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q('retail_self', `SELECT COUNT(*) FROM sales a JOIN sales b ON a.ticket = b.ticket AND a.item = b.item AND a.quantity < b.quantity`),
  q(
    'retail_union',
    `SELECT k, SUM(n), SUM(a) FROM (SELECT 'sale' AS k, COUNT(*) AS n, SUM(salesPrice) AS a FROM sales UNION ALL SELECT 'return', COUNT(*), SUM(amount) FROM returns) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'retail_union_item',
    `SELECT item, SUM(a) FROM (SELECT item, salesPrice AS a FROM sales UNION ALL SELECT item, -amount FROM returns) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
];
