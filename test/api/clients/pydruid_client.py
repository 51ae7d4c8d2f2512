"""pydruid and SQLAlchemy as analysts use them: prints a name, a tab, what came back as JSON."""
import json
import sys

from pydruid.client import PyDruid
from pydruid.db import connect
from pydruid.utils import aggregators, dimensions, filters
from sqlalchemy import Column, MetaData, String, Table, create_engine, func, inspect, select

host, port = sys.argv[1], int(sys.argv[2])


def show(name, value):
    print(f"{name}\t{json.dumps(value)}")


cursor = connect(host=host, port=port, path="/druid/v2/sql/", scheme="http", context={"sqlOuterLimit": 2}).cursor()
cursor.execute("SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY x DESC")
show("cursor", [list(row) for row in cursor])
cursor.execute("SELECT COUNT(*) AS c FROM orders WHERE 'a' = %(letter)s", {"letter": "a"})
show("parameters", [list(row) for row in cursor])
try:
    cursor.execute("SELECT nothing FROM orders")
    list(cursor)
except Exception as error:
    show("refused", "nothing" in str(error))

engine = create_engine(f"druid://{host}:{port}/druid/v2/sql/")
inspector = inspect(engine)
show("tables", "orders" in inspector.get_table_names())
show("schemas", sorted(inspector.get_schema_names()))
show("columns", sorted(column["name"] for column in inspector.get_columns("orders"))[:1])
orders = Table("orders", MetaData(), Column("label", String))
with engine.connect() as connection:
    show("sqlalchemy", connection.execute(select(func.count()).select_from(orders)).scalar())

client = PyDruid(f"http://{host}:{port}", "druid/v2/")
everything = {"datasource": "orders", "granularity": "all", "intervals": "0000/3000"}
query = client.timeseries(
    **everything,
    aggregations={"rows": aggregators.count("rows"), "kinds": aggregators.cardinality("label")},
    context={"useCache": False, "populateCache": False, "timeout": 30000},
)
show("timeseries", query.result[0]["result"]["rows"])
query = client.topn(**everything, dimension="label", metric="rows", threshold=1, aggregations={"rows": aggregators.count("rows")})
show("topn", len(query.result[0]["result"]))
query = client.groupby(
    **everything,
    dimensions=[dimensions.DimensionSpec("label", "land")],
    filter=~(filters.Dimension("label") == "nowhere"),
    aggregations={"rows": aggregators.count("rows")},
    limit_spec={"type": "default", "limit": 2, "columns": [{"dimension": "land", "direction": "ascending"}]},
)
show("groupby", len(query.result))
query = client.scan(**{**everything, "granularity": "all"}, limit=2, columns=["label"])
show("scan", sum(len(part["events"]) for part in query.result))
show("time_boundary", len(client.time_boundary(datasource="orders").result))
