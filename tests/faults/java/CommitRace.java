import io.delta.storage.LogStore;
import java.nio.file.FileAlreadyExistsException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Commits to a Delta log as fast as a log store can, beside others: LOG_STORE LOG APP_ID VERSIONS.
 *
 * <p>Each commit is a transaction id of its own. Printed: the number of each that was
 * acknowledged, and `taken` where another was first. LOG is a URI.
 */
public final class CommitRace {
    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        LogStore store =
                (LogStore) Class.forName(args[0]).getConstructor(Configuration.class).newInstance(settings);
        FileSystem files = new Path(args[1]).getFileSystem(settings);
        System.out.println("ready");
        System.in.read();
        long last = Long.parseLong(args[3]);
        long number = 1;
        long version = 1;
        while (version <= last) {
            Path commit = new Path(String.format("%s/%020d.json", args[1], version++));
            if (files.exists(commit)) {
                continue;
            }
            String id = String.format("{\"txn\":{\"appId\":\"%s\",\"version\":%d}}", args[2], number);
            try {
                store.write(commit, List.of(id).iterator(), false, settings);
                System.out.println(number++);
            } catch (FileAlreadyExistsException taken) {
                System.out.println("taken");
            }
            Thread.sleep(1);
        }
    }
}
