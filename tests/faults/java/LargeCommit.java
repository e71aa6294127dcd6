import io.delta.storage.LogStore;
import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Writes one commit of many actions through a log store: LOG_STORE COMMIT ACTIONS. */
public final class LargeCommit {
    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        LogStore store =
                (LogStore) Class.forName(args[0]).getConstructor(Configuration.class).newInstance(settings);
        String action = String.format("{\"txn\":{\"appId\":\"%s\",\"version\":1}}", "x".repeat(960));
        try {
            store.write(
                    new Path(args[1]),
                    Collections.nCopies(Integer.parseInt(args[2]), action).iterator(),
                    false,
                    settings);
            System.out.println("acknowledged");
        } catch (IOException refused) {
            System.out.println("refused: " + refused);
        }
    }
}
