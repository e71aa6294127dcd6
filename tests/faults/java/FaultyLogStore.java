import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import sluice.LinkLogStore;

/**
 * The product's log store, with one fault inside a commit: the first to the data table.
 *
 * <p>SLUICE_TEST_COMMIT is `files written: KIND` (its files are there, the commit is not) or `reply
 * lost: KIND` (the commit is there, its writer does not learn of it). `quarantine files written` and
 * `quarantine reply lost` are those of the quarantine table, `quarantine creation` is before it is.
 */
public final class FaultyLogStore extends LinkLogStore {
    private static final Pattern COMMIT = Pattern.compile(".*/_delta_log/\\d{20}\\.json");
    private static final String CREATION = "/_delta_log/" + "0".repeat(20) + ".json";

    private static final AtomicBoolean DONE = new AtomicBoolean();

    public FaultyLogStore(Configuration settings) {
        super(settings);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf)
            throws IOException {
        reach("files written", path);
        super.write(path, actions, overwrite, conf);
        reach("reply lost", path);
    }

    private static void reach(String step, Path path) throws IOException {
        String file = path.toUri().getPath();
        String named = !file.endsWith(CREATION) ? step : step.equals("files written") ? "creation" : "";
        String point = file.contains("__quarantine/") ? "quarantine " + named : named;
        String wanted = System.getenv("SLUICE_TEST_COMMIT");
        if (wanted == null || !wanted.startsWith(point + ": ")) {
            return;
        }
        if (!COMMIT.matcher(file).matches() || DONE.getAndSet(true)) {
            return;
        }
        System.err.println("failpoint " + wanted);
        String kind = wanted.substring(point.length() + 2);
        switch (kind) {
            case "raise" -> throw new IOException("a failpoint raised this: " + wanted);
            case "exists" -> throw new FileAlreadyExistsException(path.toString());
            case "kill" -> {
                signal("KILL", driver());
                Runtime.getRuntime().halt(137);
            }
            case "halt" -> Runtime.getRuntime().halt(137);
            case "term" -> {
                signal("TERM", driver());
                hang();
            }
            case "hang" -> hang();
            case "stop" -> signal("STOP", ProcessHandle.current().pid());
            default -> throw new IllegalArgumentException("no such fault: " + wanted);
        }
    }

    /** The Python process that has started this JVM. */
    private static long driver() {
        return ProcessHandle.current().parent().orElseThrow().pid();
    }

    private static void signal(String name, long pid) throws IOException {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void hang() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
