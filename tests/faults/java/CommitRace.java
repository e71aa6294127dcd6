import io.delta.storage.LogStore;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Commits to a Delta log as fast as a log store can, beside others: LOG_STORE LOG APP_ID SECONDS.
 *
 * <p>Each commit is a transaction id of its own. Printed: the number of each that was
 * acknowledged, and `taken` where another was first.
 */
public final class CommitRace {
    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        LogStore store =
                (LogStore) Class.forName(args[0]).getConstructor(Configuration.class).newInstance(settings);
        System.out.println("ready");
        System.in.read();
        long end = System.nanoTime() + Long.parseLong(args[3]) * 1_000_000_000L;
        long number = 1;
        long version = 1;
        while (System.nanoTime() < end) {
            String commit = String.format("%s/%020d.json", args[1], version++);
            if (Files.exists(Paths.get(commit))) {
                continue;
            }
            String id = String.format("{\"txn\":{\"appId\":\"%s\",\"version\":%d}}", args[2], number);
            try {
                store.write(new Path("file:" + commit), List.of(id).iterator(), false, settings);
                System.out.println(number++);
            } catch (FileAlreadyExistsException taken) {
                System.out.println("taken");
            }
            Thread.sleep(1);
        }
    }
}
