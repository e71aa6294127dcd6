import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
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
 * `quarantine reply lost` are those of the quarantine table, `state …` those of the state table, `quarantine creation` is before it is.
 *
 * <p>A server is told by a file `commit-fault` beside the warehouse: the commit that meets the fault
 * removes it. What hangs goes on when there is a file `commit-goes-on`.
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
        String point = tableOf(file) + named;
        if (!COMMIT.matcher(file).matches()) {
            return;
        }
        // <folder>/<warehouse>/<table>/_delta_log/<version>.json
        java.nio.file.Path folder = Paths.get(file).resolve("../../../..").normalize();
        String wanted = wanted(folder);
        if (!wanted.startsWith(point + ": ") || !isFirst(folder)) {
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
                hang(folder);
            }
            case "hang" -> hang(folder);
            // No heap holds it, whatever its size.
            case "out of memory" -> System.err.println(new byte[Integer.MAX_VALUE].length);
            case "stop" -> signal("STOP", ProcessHandle.current().pid());
            default -> throw new IllegalArgumentException("no such fault: " + wanted);
        }
    }

    /** What is said of a table before a point: nothing of the data table. */
    private static String tableOf(String file) {
        return file.contains("__quarantine/") ? "quarantine " : file.contains("__state/") ? "state " : "";
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

    private static void hang(java.nio.file.Path folder) throws IOException {
        try {
            while (!Files.exists(folder.resolve("commit-goes-on"))) {
                Thread.sleep(50);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            System.err.println("failpoint interrupted: " + folder);
            throw new InterruptedIOException("interrupted inside a commit");
        }
    }

    private static String wanted(java.nio.file.Path folder) throws IOException {
        String told = System.getenv("SLUICE_TEST_COMMIT");
        try {
            return told != null ? told : Files.readString(folder.resolve("commit-fault"));
        } catch (NoSuchFileException none) {
            return "";
        }
    }

    private static boolean isFirst(java.nio.file.Path folder) throws IOException {
        if (System.getenv("SLUICE_TEST_COMMIT") != null) {
            return !DONE.getAndSet(true);
        }
        return Files.deleteIfExists(folder.resolve("commit-fault"));
    }
}
