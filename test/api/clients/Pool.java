import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** A pool of connections as application servers set it up, autoCommit off; prints what comes back line by line. */
public class Pool {
  public static void main(String[] arguments) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[0]);
    config.setAutoCommit(false);
    config.setMaximumPoolSize(2);
    config.setConnectionTestQuery("SELECT 1");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      for (int turn = 0; turn < 3; turn++) {
        try (Connection connection = pool.getConnection();
            PreparedStatement statement = connection.prepareStatement("SELECT COUNT(*) FROM orders WHERE 1 = ?")) {
          statement.setInt(1, 1);
          try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            System.out.println("rows\t" + rows.getLong(1));
          }
          connection.commit();
        }
      }
      try (Connection connection = pool.getConnection()) {
        connection.createStatement().executeQuery("SELECT nothing FROM orders");
      } catch (SQLException error) {
        System.out.println("refused\t" + error.getMessage().contains("nothing"));
      }
      try (Connection connection = pool.getConnection()) {
        connection.rollback();
        System.out.println("autoCommit\t" + connection.getAutoCommit());
      }
    }
  }
}
