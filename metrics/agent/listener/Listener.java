// Compiled inside the driver by Spark's own Janino: no generics, no lambdas, no javac.
// Events are added up here instead of crossing into Python one by one; Python fetches one
// JSON text per period.
package weir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.sql.streaming.StreamingQueryListener;

public class Listener extends SparkListener {
  private static final int MAX_PENDING = 2000;

  private static class Work {
    long runMs, cpuNs, busyMs;
    int tasks, failed, n;
    long[] durations = new long[64];

    void took(long ms) {
      if (n == durations.length && n < 65536) durations = Arrays.copyOf(durations, 2 * n);
      if (n < durations.length) durations[n++] = ms;
    }
  }

  private static class Executor {
    String host;
    int cores, tasks, failed;
    long addedMs, busyMs, heap;
  }

  private static class Running {
    String query, executor;
    long launchMs;
  }

  private final Map stages = new HashMap();    // stage id -> query id, while it runs
  private final Map running = new HashMap();   // task id -> Running
  private final Map executors = new HashMap(); // executor id -> Executor
  private Map queries = new HashMap();         // query id -> Work, since the last poll
  private ArrayList removed = new ArrayList();
  private ArrayList started = new ArrayList();
  private ArrayList progress = new ArrayList();
  private ArrayList terminated = new ArrayList();
  private long lastPollMs = System.currentTimeMillis();
  private long lostProgress = 0;
  private boolean ended = false;

  public final Progress progressListener = new Progress(this);

  public synchronized void seed(String id, String host, int cores, long addedMs) {
    if (executors.containsKey(id)) return;
    Executor executor = new Executor();
    executor.host = host;
    executor.cores = cores;
    executor.addedMs = addedMs;
    executors.put(id, executor);
  }

  public synchronized void onExecutorAdded(SparkListenerExecutorAdded event) {
    Executor executor = new Executor();
    executor.host = event.executorInfo().executorHost();
    executor.cores = event.executorInfo().totalCores();
    executor.addedMs = event.time();
    executors.put(event.executorId(), executor);
  }

  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    if (executors.remove(event.executorId()) == null) return; // told twice on a decommission
    StringBuilder out = new StringBuilder("{\"id\":");
    quote(out, event.executorId());
    out.append(",\"at_ms\":").append(event.time()).append(",\"reason\":");
    quote(out, event.reason());
    add(removed, out.append('}').toString());
  }

  public synchronized void onStageSubmitted(SparkListenerStageSubmitted event) {
    String query = event.properties() == null
        ? null : event.properties().getProperty("sql.streaming.queryId");
    if (query != null) stages.put(new Integer(event.stageInfo().stageId()), query);
  }

  public synchronized void onStageCompleted(SparkListenerStageCompleted event) {
    stages.remove(new Integer(event.stageInfo().stageId()));
  }

  public synchronized void onTaskStart(SparkListenerTaskStart event) {
    Running task = new Running();
    task.query = (String) stages.get(new Integer(event.stageId()));
    if (task.query == null) task.query = "";
    task.executor = event.taskInfo().executorId();
    task.launchMs = event.taskInfo().launchTime();
    running.put(new Long(event.taskInfo().taskId()), task);
  }

  public synchronized void onTaskEnd(SparkListenerTaskEnd event) {
    TaskInfo info = event.taskInfo();
    Running task = (Running) running.remove(new Long(info.taskId()));
    String query = task == null ? (String) stages.get(new Integer(event.stageId())) : task.query;
    Work work = work(query == null ? "" : query);
    Executor executor = (Executor) executors.get(info.executorId());
    TaskMetrics metrics = event.taskMetrics();
    boolean failed = info.failed();
    work.tasks++;
    if (failed) work.failed++;
    if (metrics != null) {
      work.runMs += metrics.executorRunTime();
      work.cpuNs += metrics.executorCpuTime();
      work.took(metrics.executorRunTime());
    }
    long busy = Math.max(0L, info.finishTime() - Math.max(info.launchTime(), lastPollMs));
    work.busyMs += busy;
    if (executor != null) {
      executor.tasks++;
      if (failed) executor.failed++;
      executor.busyMs += busy;
      if (event.taskExecutorMetrics() != null) {
        long heap = event.taskExecutorMetrics().getMetricValue("JVMHeapMemory");
        if (heap > 0) executor.heap = heap;
      }
    }
  }

  public synchronized void onApplicationEnd(SparkListenerApplicationEnd event) {
    ended = true;
  }

  public synchronized void add(ArrayList list, String json) {
    if (list.size() < MAX_PENDING) list.add(json); else lostProgress++;
  }

  // All that happened since the last poll, as one JSON text.
  public synchronized String poll() {
    long now = System.currentTimeMillis();
    for (Iterator it = running.values().iterator(); it.hasNext(); ) {
      Running task = (Running) it.next();
      long busy = Math.max(0L, now - Math.max(task.launchMs, lastPollMs));
      work(task.query).busyMs += busy;
      Executor executor = (Executor) executors.get(task.executor);
      if (executor != null) executor.busyMs += busy;
    }
    StringBuilder out = new StringBuilder(4096);
    out.append("{\"at_ms\":").append(now).append(",\"since_ms\":").append(lastPollMs);
    out.append(",\"ended\":").append(ended).append(",\"lost_progress\":").append(lostProgress);
    out.append(",\"queries\":{");
    String comma = "";
    for (Iterator it = queries.entrySet().iterator(); it.hasNext(); comma = ",") {
      Map.Entry entry = (Map.Entry) it.next();
      Work work = (Work) entry.getValue();
      Arrays.sort(work.durations, 0, work.n);
      out.append(comma);
      quote(out, (String) entry.getKey());
      out.append(":{\"run_ms\":").append(work.runMs).append(",\"cpu_ns\":").append(work.cpuNs);
      out.append(",\"busy_ms\":").append(work.busyMs).append(",\"tasks\":").append(work.tasks);
      out.append(",\"failed\":").append(work.failed);
      out.append(",\"median_ms\":").append(work.n == 0 ? 0L : work.durations[work.n / 2]);
      out.append(",\"longest_ms\":").append(work.n == 0 ? 0L : work.durations[work.n - 1]);
      out.append('}');
    }
    out.append("},\"executors\":{");
    comma = "";
    for (Iterator it = executors.entrySet().iterator(); it.hasNext(); comma = ",") {
      Map.Entry entry = (Map.Entry) it.next();
      Executor e = (Executor) entry.getValue();
      out.append(comma);
      quote(out, (String) entry.getKey());
      out.append(":{\"host\":");
      quote(out, e.host);
      out.append(",\"cores\":").append(e.cores).append(",\"added_ms\":").append(e.addedMs);
      out.append(",\"busy_ms\":").append(e.busyMs).append(",\"tasks\":").append(e.tasks);
      out.append(",\"failed\":").append(e.failed).append(",\"heap_bytes\":").append(e.heap);
      out.append('}');
      e.busyMs = 0L;
      e.tasks = 0;
      e.failed = 0;
    }
    out.append('}');
    list(out, "removed", removed);
    list(out, "started", started);
    list(out, "progress", progress);
    list(out, "terminated", terminated);
    queries = new HashMap();
    removed = new ArrayList();
    started = new ArrayList();
    progress = new ArrayList();
    terminated = new ArrayList();
    lastPollMs = now;
    return out.append('}').toString();
  }

  private Work work(String query) {
    Work work = (Work) queries.get(query);
    if (work == null) {
      work = new Work();
      queries.put(query, work);
    }
    return work;
  }

  private static void list(StringBuilder out, String name, ArrayList items) {
    out.append(",\"").append(name).append("\":[");
    for (int i = 0; i < items.size(); i++) {
      if (i > 0) out.append(',');
      out.append((String) items.get(i));
    }
    out.append(']');
  }

  static void quote(StringBuilder out, String text) {
    if (text == null) {
      out.append("null");
      return;
    }
    out.append('"');
    for (int i = 0; i < text.length() && i < 2000; i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append(' ');
      else out.append(c);
    }
    out.append('"');
  }

  public synchronized void queryStarted(StreamingQueryListener.QueryStartedEvent event) {
    StringBuilder out = new StringBuilder("{\"id\":");
    quote(out, event.id().toString());
    out.append(",\"run_id\":");
    quote(out, event.runId().toString());
    out.append(",\"name\":");
    quote(out, event.name());
    add(started, out.append('}').toString());
  }

  public synchronized void queryProgress(StreamingQueryListener.QueryProgressEvent event) {
    add(progress, event.progress().json());
  }

  public synchronized void queryTerminated(StreamingQueryListener.QueryTerminatedEvent event) {
    StringBuilder out = new StringBuilder("{\"id\":");
    quote(out, event.id().toString());
    out.append(",\"run_id\":");
    quote(out, event.runId().toString());
    out.append(",\"exception\":");
    quote(out, event.exception().isDefined() ? (String) event.exception().get() : null);
    add(terminated, out.append('}').toString());
  }

  public static class Progress extends StreamingQueryListener {
    private final Listener owner;

    public Progress(Listener owner) {
      this.owner = owner;
    }

    public void onQueryStarted(StreamingQueryListener.QueryStartedEvent event) {
      owner.queryStarted(event);
    }

    public void onQueryProgress(StreamingQueryListener.QueryProgressEvent event) {
      owner.queryProgress(event);
    }

    public void onQueryTerminated(StreamingQueryListener.QueryTerminatedEvent event) {
      owner.queryTerminated(event);
    }
  }
}
