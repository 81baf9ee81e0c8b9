package admin

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// StreamSettings are those of the event streams that Hystrix's dashboard and
// Turbine read. The zero value refuses every reader.
type StreamSettings struct {
	MaxReaders                     int           // of each stream
	Dashboard, Config, Utilization time.Duration // between two rounds
}

// Streams counts the readers of event streams, each stream on its own. It outlives
// the handlers that share it.
type Streams struct{ dashboard, config, utilization atomic.Int64 }

const (
	// pingEvery tells Turbine that the stream lives, and us that the reader does.
	pingEvery = 500 * time.Millisecond
	// streamPatience is how long a reader may take nothing until it is dropped.
	streamPatience = 5 * time.Second

	minDelay = 100 * time.Millisecond
	maxDelay = time.Minute

	// writeBuffer is what the system keeps for a reader. It would take megabytes, and
	// hide for minutes that nobody reads.
	writeBuffer = 32 << 10
)

// ConnContext belongs into the http.Server of the endpoints: it bounds what a
// connection keeps for its reader.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if bounded, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = bounded.SetWriteBuffer(writeBuffer) // it is a favour
	}
	return ctx
}

// stream is one kind of event stream.
type stream struct {
	readers  *atomic.Int64
	interval time.Duration
	round    func(now time.Time) [][]byte // the messages to be sent each interval
}

func (a *api) registerStreams() {
	s, of := a.settings.Streams, a.settings.Stream
	if s == nil {
		s = &Streams{}
	}
	dashboard := methods{http.MethodGet: a.serve(stream{&s.dashboard, of.Dashboard, func(now time.Time) [][]byte {
		c := a.view.Commands()
		return ribboncmd.DashboardMessages(c.Snapshots(), c.Pools(), now)
	}})}
	a.endpoint("hystrix.stream", "", dashboard)
	if !a.exposed("hystrix.stream") {
		return
	}
	a.router.Handle("/hystrix.stream", dashboard)
	a.router.Handle("/hystrix/config.stream", methods{http.MethodGet: a.serve(stream{&s.config, of.Config, a.alone(ribboncmd.ConfigMessage)})})
	a.router.Handle("/hystrix/utilization.stream", methods{http.MethodGet: a.serve(stream{&s.utilization, of.Utilization, a.alone(ribboncmd.UtilizationMessage)})})
}

// alone is the round of a stream that tells everything in one message.
func (a *api) alone(message func([]ribboncmd.Snapshot, []ribboncmd.PoolSnapshot) []byte) func(time.Time) [][]byte {
	return func(time.Time) [][]byte {
		c := a.view.Commands()
		return [][]byte{message(c.Snapshots(), c.Pools())}
	}
}

// serve sends rounds of messages until the reader goes or takes too long
// (hystrix.md 5.2).
func (a *api) serve(s stream) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !a.view.Ready() {
			refuse(w, "The gateway is not serving")
			return
		}
		defer s.readers.Add(-1)
		if s.readers.Add(1) > int64(a.settings.Stream.MaxReaders) {
			refuse(w, "MaxConcurrentConnections reached: "+strconv.Itoa(a.settings.Stream.MaxReaders))
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/event-stream;charset=UTF-8")
		h.Set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		h.Set("Pragma", "no-cache")
		h.Set("X-Accel-Buffering", "no") // for a proxy in front
		if r.Method == http.MethodHead {
			return
		}
		s.send(w, r)
	}
}

func refuse(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(why)) // the asker has gone
}

func (s stream) send(w http.ResponseWriter, r *http.Request) {
	rounds := time.NewTicker(s.delay(r))
	defer rounds.Stop()
	pings := time.NewTicker(pingEvery)
	defer pings.Stop()
	var batch bytes.Buffer
	writeRound(&batch, s.round(time.Now()))
	for flush(w, &batch) {
		select {
		case <-r.Context().Done():
			return
		case <-rounds.C:
			writeRound(&batch, s.round(time.Now()))
		case <-pings.C:
			batch.WriteString("ping: \n\n")
		}
	}
}

// delay is the interval, or what the reader wants instead.
func (s stream) delay(r *http.Request) time.Duration {
	ms, err := strconv.ParseInt(r.URL.Query().Get("delay"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // then it is the nearest number
		return max(s.interval, minDelay)
	}
	ms = min(max(ms, minDelay.Milliseconds()), maxDelay.Milliseconds())
	return time.Duration(ms) * time.Millisecond
}

func writeRound(batch *bytes.Buffer, messages [][]byte) {
	for _, m := range messages {
		batch.WriteString("data: ")
		batch.Write(m)
		batch.WriteString("\n\n")
	}
}

// flush sends the batch and empties it. It returns false when the reader has gone
// or does not keep up.
func flush(w http.ResponseWriter, batch *bytes.Buffer) bool {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(streamPatience)) // not there on a recorder
	_, err := w.Write(batch.Bytes())
	batch.Reset()
	return err == nil && control.Flush() == nil
}
