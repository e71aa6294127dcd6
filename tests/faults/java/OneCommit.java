import io.delta.storage.LogStore;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkThrowable;

/**
 * Makes one commit through a log store: LOG_STORE LOG VERSION [USER_METADATA]. LOG is a URI.
 *
 * <p>Printed: `landed`, or the condition of what refused it.
 */
public final class OneCommit {
    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        LogStore store =
                (LogStore) Class.forName(args[0]).getConstructor(Configuration.class).newInstance(settings);
        Path commit = new Path(String.format("%s/%020d.json", args[1], Long.parseLong(args[2])));
        List<String> actions = new ArrayList<>();
        if (args.length > 3) {
            String told = args[3].replace("\\", "\\\\").replace("\"", "\\\"");
            actions.add("{\"commitInfo\":{\"timestamp\":1,\"operation\":\"WRITE\",\"userMetadata\":\"" + told + "\"}}");
        }
        actions.add("{\"txn\":{\"appId\":\"a\",\"version\":1}}");
        try {
            store.write(commit, actions.iterator(), false, settings);
            System.out.println("landed");
        } catch (Exception refused) {
            if (!(refused instanceof SparkThrowable)) {
                throw refused;
            }
            System.out.println(((SparkThrowable) refused).getCondition());
        }
    }
}
