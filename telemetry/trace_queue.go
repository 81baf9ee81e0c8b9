package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// QueueSettings bound what waits for the collector; the names of the variables are
// OTEL_BSP_….
type QueueSettings struct {
	Delay         time.Duration // SCHEDULE_DELAY: longest wait of a span; zero means 5 s
	ExportTimeout time.Duration // EXPORT_TIMEOUT: of one batch; zero means 30 s
	Size          int           // MAX_QUEUE_SIZE: spans that wait; zero means 2048
	Batch         int           // MAX_EXPORT_BATCH_SIZE: spans of one message; zero means 512
}

func (s QueueSettings) withDefaults() QueueSettings {
	if s.Delay <= 0 {
		s.Delay = 5 * time.Second
	}
	if s.ExportTimeout <= 0 {
		s.ExportTimeout = 30 * time.Second
	}
	if s.Size <= 0 {
		s.Size = 2048
	}
	if s.Batch <= 0 {
		s.Batch = 512
	}
	s.Batch = min(s.Batch, s.Size)
	return s
}

// TraceStats tell what became of the spans since the start.
type TraceStats struct {
	Exported int64
	Failed   int64 // were sent and not taken
	Dropped  int64 // found the queue full
	Waiting  int64
}

// queue takes the spans that have ended and sends them in batches. A request never
// waits for it: a span that finds it full is dropped and counted.
type queue struct {
	settings QueueSettings
	exporter sdktrace.SpanExporter
	log      *slog.Logger

	mu      sync.Mutex
	waiting []sdktrace.ReadOnlySpan // guarded by mu
	full    chan struct{}           // a signal that there is a batch

	exported, failed, dropped atomic.Int64
	troubles                  troubles // of run alone
}

var _ sdktrace.SpanProcessor = (*queue)(nil)

func newQueue(s QueueSettings, e sdktrace.SpanExporter, l *slog.Logger) *queue {
	s = s.withDefaults()
	return &queue{settings: s, exporter: e, log: l, full: make(chan struct{}, 1)}
}

// OnStart has nothing to do.
func (*queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd keeps the span until it is sent.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	q.mu.Lock()
	n := len(q.waiting)
	if n < q.settings.Size {
		q.waiting = append(q.waiting, s)
		n++
	} else {
		q.dropped.Add(1)
	}
	q.mu.Unlock()
	if n == q.settings.Batch {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
}

// ForceFlush and Shutdown are run's affair.
func (*queue) ForceFlush(context.Context) error { return nil }

// Shutdown does nothing; see ForceFlush.
func (*queue) Shutdown(context.Context) error { return nil }

// run sends until ctx ends, and then what is left, for as long as grace.
func (q *queue) run(ctx context.Context, grace time.Duration) {
	work, stop := graceful(ctx, grace)
	defer stop()
	tick := time.NewTicker(q.settings.Delay)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-q.full:
		case <-ctx.Done():
		}
		q.drain(work)
	}
	q.drain(work) // what came while the last batch was on its way
}

// graceful is a context that ends some time after ctx, for what is on its way then.
func graceful(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-work.Done():
		}
	})
	return work, func() {
		stop()
		cancel()
	}
}

// drain sends what waits, until nothing does or the collector does not take it.
func (q *queue) drain(ctx context.Context) {
	for {
		batch := q.take()
		if len(batch) == 0 || !q.send(ctx, batch) {
			return
		}
	}
}

// take removes the next batch from the queue.
func (q *queue) take() []sdktrace.ReadOnlySpan {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), q.settings.Batch)
	if n == 0 {
		return nil
	}
	batch := append(make([]sdktrace.ReadOnlySpan, 0, n), q.waiting[:n]...)
	rest := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[rest:])
	q.waiting = q.waiting[:rest]
	return batch
}

// send gives up a batch that the collector does not take: the exporter has repeated
// what is worth it.
func (q *queue) send(parent context.Context, batch []sdktrace.ReadOnlySpan) bool {
	ctx, cancel := context.WithTimeout(parent, q.settings.ExportTimeout)
	defer cancel()
	err := q.exporter.ExportSpans(ctx, batch)
	if err != nil {
		q.failed.Add(int64(len(batch)))
	} else {
		q.exported.Add(int64(len(batch)))
	}
	q.troubles.note(q.log, "traces", err, "failed", q.failed.Load(), "dropped", q.dropped.Load())
	return err == nil
}

func (q *queue) stats() TraceStats {
	q.mu.Lock()
	waiting := len(q.waiting)
	q.mu.Unlock()
	return TraceStats{Exported: q.exported.Load(), Failed: q.failed.Load(), Dropped: q.dropped.Load(), Waiting: int64(waiting)}
}

// troubles keep a collector that is down from filling the log: its first failure is
// told, then one a minute, and that it takes things again.
type troubles struct {
	told time.Time // zero: all is well
}

const trouble = time.Minute

func (t *troubles) note(l *slog.Logger, what string, err error, counts ...any) {
	switch now := time.Now(); {
	case err == nil && !t.told.IsZero():
		t.told = time.Time{}
		l.Info("the OTLP collector takes them again", append(counts, "signal", what)...)
	case err == nil:
	case t.told.IsZero() || now.Sub(t.told) >= trouble:
		t.told = now
		l.Warn("the OTLP collector is in trouble", append(counts, "signal", what, "error", clipped(err.Error(), maxText))...)
	}
}
