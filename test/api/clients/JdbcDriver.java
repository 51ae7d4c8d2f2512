import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.TimeZone;
import org.apache.calcite.avatica.ColumnMetaData;
import org.apache.calcite.avatica.util.ArrayFactoryImpl;

/** Uses a server by way of its JDBC driver, and prints what comes back: a name, a tab, the values. */
public class JdbcDriver {
  interface Work {
    Object run() throws Exception;
  }

  private static void show(String name, Work work) {
    String result;
    try {
      result = String.valueOf(work.run());
    } catch (Throwable error) {
      result = error.getClass().getSimpleName() + ": " + error.getMessage();
    }
    System.out.println(name + "\t" + result.replace("\n", " "));
  }

  /** With the class of each value, which is what a type of a column promises. */
  private static List<String> values(ResultSet rows) throws SQLException {
    List<String> all = new ArrayList<>();
    int columns = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      for (int column = 1; column <= columns; column++) all.add(text(rows.getObject(column)));
    }
    return all;
  }

  private static String text(Object value) throws SQLException {
    if (value == null) return "null";
    if (value instanceof Array) return Arrays.deepToString((Object[]) ((Array) value).getArray());
    return value.getClass().getSimpleName() + " " + value;
  }

  private static List<String> query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
      return values(rows);
    }
  }

  private static List<String> prepared(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int index = 0; index < parameters.length; index++) {
        if (parameters[index] instanceof Array) statement.setArray(index + 1, (Array) parameters[index]);
        else statement.setObject(index + 1, parameters[index]);
      }
      return values(statement.executeQuery());
    }
  }

  private static Array array(int type, ColumnMetaData.Rep rep, Object... elements) {
    return new ArrayFactoryImpl(TimeZone.getDefault()).createArray(ColumnMetaData.scalar(type, rep.name(), rep), Arrays.asList(elements));
  }

  /** One column of all rows. */
  private static List<String> column(ResultSet rows, String name) throws SQLException {
    List<String> all = new ArrayList<>();
    while (rows.next()) all.add(rows.getString(name));
    return all;
  }

  public static void main(String[] arguments) throws Exception {
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    Properties properties = new Properties();
    properties.setProperty("sqlTimeZone", "Etc/UTC");
    properties.setProperty("user", "me");
    properties.setProperty("password", "secret");
    try (Connection connection = DriverManager.getConnection(arguments[0], properties)) {
      show("numbers", () -> query(connection, "SELECT 1, 9223372036854775807, CAST(1.5 AS DOUBLE), CAST(7 AS DOUBLE), CAST(1.5 AS FLOAT)"));
      show("texts", () -> query(connection, "SELECT 't\u00e6xt', '', CAST(NULL AS VARCHAR), 1 = 1"));
      show("instants", () -> query(connection, "SELECT TIMESTAMP '2024-01-01 00:00:00', CAST('2024-01-01' AS DATE)"));
      show("arrays", () -> query(connection, "SELECT counts, ARRAY['a', NULL], ARRAY[1.5, 2] FROM orders WHERE label = 'o1'"));
      show("not finite", () -> query(connection, "SELECT LN(0), LN(-1)"));
      show("getters", () -> {
        try (Statement statement = connection.createStatement();
            ResultSet row = statement.executeQuery("SELECT 7, 1.5, CAST(1.5 AS FLOAT), TIMESTAMP '2024-01-01 00:00:00'")) {
          row.next();
          return List.of(row.getInt(1), row.getLong(1), row.getDouble(2), row.getBigDecimal(2), row.getFloat(3), row.getTimestamp(4), row.getString(4));
        }
      });
      show("frames", () -> {
        try (Statement statement = connection.createStatement()) {
          statement.setFetchSize(2);
          return values(statement.executeQuery("SELECT n FROM (VALUES (1), (2), (3), (4), (5)) AS t (n) ORDER BY n"));
        }
      });
      show("most rows", () -> {
        try (Statement statement = connection.createStatement()) {
          statement.setMaxRows(3);
          return values(statement.executeQuery("SELECT n FROM (VALUES (1), (2), (3), (4), (5)) AS t (n) ORDER BY n"));
        }
      });
      show("parameters", () -> prepared(connection, "SELECT ? + 1, ?, ?, ?, ? * 2", 41L, 2.5, "x", true, new BigDecimal("1.25")));
      show("parameter instants", () -> prepared(connection, "SELECT ?, ?", Timestamp.valueOf("2024-01-02 03:04:05"), Date.valueOf("2024-01-02")));
      show("parameter null", () -> prepared(connection, "SELECT COALESCE(CAST(? AS BIGINT), 5)", (Object) null));
      show("parameter array of texts", () -> prepared(connection, "SELECT COUNT(*) FROM orders WHERE SCALAR_IN_ARRAY(label, ?)",
          array(Types.VARCHAR, ColumnMetaData.Rep.STRING, "o1", "o3", null)));
      show("parameter array of numbers", () -> prepared(connection, "SELECT n FROM (VALUES (1), (2), (3)) AS t (n) WHERE SCALAR_IN_ARRAY(n, ?)",
          array(Types.INTEGER, ColumnMetaData.Rep.INTEGER, 3, 7)));
      show("prepared again", () -> {
        try (PreparedStatement statement = connection.prepareStatement("SELECT ? * 2")) {
          List<String> all = new ArrayList<>();
          for (long value = 1; value <= 3; value++) {
            statement.setLong(1, value);
            all.addAll(values(statement.executeQuery()));
          }
          return all;
        }
      });
      show("description", () -> {
        try (PreparedStatement statement = connection.prepareStatement("SELECT label AS l FROM orders WHERE label = ?")) {
          ResultSetMetaData columns = statement.getMetaData();
          return List.of(columns.getColumnLabel(1), columns.getColumnTypeName(1), columns.getColumnClassName(1), statement.getParameterMetaData().getParameterCount());
        }
      });
      DatabaseMetaData metadata = connection.getMetaData();
      show("catalogs", () -> column(metadata.getCatalogs(), "TABLE_CAT"));
      show("schemas", () -> column(metadata.getSchemas(), "TABLE_SCHEM"));
      show("tables", () -> column(metadata.getTables(null, "svc", "o%", new String[] {"TABLE"}), "TABLE_NAME"));
      show("columns", () -> column(metadata.getColumns(null, null, "edits", "\\_\\_time"), "TYPE_NAME"));
      show("table types", () -> column(metadata.getTableTypes(), "TABLE_TYPE"));
      show("types", () -> column(metadata.getTypeInfo(), "TYPE_NAME"));
      show("properties", () -> {
        connection.setSchema("sys");
        return List.of(connection.getSchema(), connection.getAutoCommit(), connection.isReadOnly());
      });
      show("unknown table", () -> query(connection, "SELECT * FROM ordres"));
      show("commit", () -> {
        connection.commit();
        return "done";
      });
      show("cancelled", () -> {
        try (Statement statement = connection.createStatement()) {
          ResultSet rows = statement.executeQuery("SELECT 1");
          statement.cancel();
          return rows.next();
        }
      });
    }
    System.out.println("closed\tin the end");
  }
}
