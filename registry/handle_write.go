package registry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// write wraps what changes the application that the path names.
func (a *api) write(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		needs := need{right: rightRegister, app: appOf(req)}
		if replicated(req) {
			needs = need{right: rightReplicate}
		}
		a.allow(needs, next)(w, req)
	}
}

// postInstance registers (spec 1.4).
func (a *api) postInstance(w http.ResponseWriter, req *http.Request) {
	f, err := eureka.FormatOf(req.Header.Get("Content-Type"))
	if err != nil {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	i, err := a.readInstance(w, req, f)
	if err != nil {
		a.refusal(appOf(req), err)
		refuseBody(w, f, err)
		return
	}
	if err := a.validate(i, appOf(req)); err != nil {
		a.refusal(appOf(req), err)
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := a.register(i, replicated(req)); err != nil {
		a.refusal(i.App, err)
		fail(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *api) readInstance(w http.ResponseWriter, req *http.Request, f eureka.Format) (*eureka.Instance, error) {
	most := a.settings.Limits.Body
	body, err := eureka.Unpacked(http.MaxBytesReader(w, req.Body, most), req.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, err
	}
	i, err := eureka.Decoder{Format: f, Limits: eureka.Limits{Bytes: most}}.Instance(body)
	if err != nil {
		return nil, err
	}
	complete(i)
	return i, nil
}

// refusal logs why a registration was refused, which for a body that cannot be read
// the client is not told. Strangers do not fill the log: a few, then one per second.
func (r *Registry) refusal(app string, err error) {
	if r.refusals.acquire(time.Now()) {
		r.log.Warn("registration refused", "application", fmt.Sprintf("%.100s", app), "error", err)
	}
}

// refuseBody answers for a body that could not be read, in its own format.
func refuseBody(w http.ResponseWriter, f eureka.Format, err error) {
	status := http.StatusBadRequest
	if _, over := errors.AsType[*http.MaxBytesError](err); over || errors.Is(err, eureka.ErrTooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, eureka.ErrMediaType) {
		status = http.StatusUnsupportedMediaType
	}
	w.Header().Set("Content-Type", f.ContentType())
	w.WriteHeader(status)
	if f == eureka.XML {
		_, _ = io.WriteString(w, "<error><message>cannot parse request body</message></error>")
		return
	}
	_, _ = io.WriteString(w, `{"error": "cannot parse request body"}`)
}

// fail answers with a line of text.
func fail(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// putHeartbeat renews (spec 1.5).
func (a *api) putHeartbeat(w http.ResponseWriter, req *http.Request) {
	h := heartbeat{key: keyOf(req), replicated: replicated(req)}
	if req.URL.RawQuery != "" {
		query := req.URL.Query()
		h.dirty, h.override = query.Get("lastDirtyTimestamp"), query.Get("overriddenstatus")
	}
	status, newer := a.heartbeat(h)
	if newer == nil {
		w.WriteHeader(status)
		return
	}
	f, ok := formOf(req.Header, a.v1)
	if !ok {
		f = form{format: eureka.JSON}
	}
	w.Header().Set("Content-Type", f.format.ContentType())
	w.WriteHeader(status)
	_, _ = w.Write(f.encoder().AppendInstance(nil, newer))
}

// heartbeat is a renewal as it came, by itself or in a batch.
type heartbeat struct {
	key             instanceKey
	dirty, override string // as sent, "" when not
	replicated      bool
}

// heartbeat renews and compares versions; the order of the steps is the original's.
// A replicated one of an older version is told the newer instance.
func (r *Registry) heartbeat(h heartbeat) (status int, newer *eureka.Instance) {
	if !r.renew(h.key.app, h.key.id, h.replicated) {
		return http.StatusNotFound, nil
	}
	if h.dirty == "" {
		return http.StatusOK, nil
	}
	sent, err := strconv.ParseInt(h.dirty, 10, 64)
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	if !r.settings.Leases.SyncWhenTimestampDiffers {
		return http.StatusOK, nil
	}
	known, instance := r.dirtyOf(h.key)
	switch {
	case instance == nil || sent == known:
		return http.StatusOK, nil
	case sent > known:
		if override, ok := eureka.ParseStatus(h.override); ok && h.replicated && override != eureka.Unknown {
			r.adoptOverride(h.key, override)
		}
		return http.StatusNotFound, nil
	case h.replicated:
		return http.StatusConflict, r.instance(h.key)
	}
	return http.StatusOK, nil
}

// dirtyOf is when the instance as it is known here last changed, in milliseconds of
// the epoch.
func (r *Registry) dirtyOf(key instanceKey) (int64, *eureka.Instance) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	l := r.find(key.app, key.id)
	if l == nil {
		return 0, nil
	}
	return l.holder.LastDirty.UnixMilli(), l.holder
}

func (a *api) deleteInstance(w http.ResponseWriter, req *http.Request) {
	w.WriteHeader(found(a.cancel(keyOf(req), causeCanceled, replicated(req))))
}

func (a *api) putStatus(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	w.WriteHeader(a.changeStatus(keyOf(req), query.Get("value"), query.Get("lastDirtyTimestamp"), replicated(req)))
}

// changeStatus sets an override: 200, 404, or 500 for a status that is none.
func (r *Registry) changeStatus(key instanceKey, value, dirty string, replicated bool) int {
	if !r.known(key) {
		return http.StatusNotFound
	}
	status, ok := eureka.ParseStatus(value)
	when, err := dirtyTime(dirty)
	if !ok || err != nil {
		return http.StatusInternalServerError
	}
	return found(r.setStatus(key, status, when, replicated))
}

func (a *api) deleteStatus(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	w.WriteHeader(a.dropOverride(keyOf(req), query.Get("value"), query.Get("lastDirtyTimestamp"), replicated(req)))
}

// dropOverride removes one; without a value the status becomes Unknown, so that the
// next heartbeat makes the instance register again.
func (r *Registry) dropOverride(key instanceKey, value, dirty string, replicated bool) int {
	if !r.known(key) {
		return http.StatusNotFound
	}
	status, ok := eureka.Unknown, true
	if value != "" {
		status, ok = eureka.ParseStatus(value)
	}
	when, err := dirtyTime(dirty)
	if !ok || err != nil {
		return http.StatusInternalServerError
	}
	return found(r.deleteOverride(key, status, when, replicated))
}

func dirtyTime(millis string) (time.Time, error) {
	if millis == "" {
		return time.Time{}, nil
	}
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("registry: lastDirtyTimestamp: %w", err)
	}
	return time.UnixMilli(n), nil
}

// putMetadata adds entries and registers the instance anew with them (spec 1.6).
func (a *api) putMetadata(w http.ResponseWriter, req *http.Request) {
	key := keyOf(req)
	if !a.known(key) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	err := a.addMetadata(key, req.URL.Query(), replicated(req))
	switch bad := invalid(""); {
	case errors.As(err, &bad):
		fail(w, http.StatusBadRequest, bad.Error())
	default:
		w.WriteHeader(found(err == nil))
	}
}

func found(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusNotFound
}
