package registry

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// postBatch takes a peer's changes; each has a status of its own (spec 2.7).
func (a *api) postBatch(w http.ResponseWriter, req *http.Request) {
	limits := a.batchLimits()
	body, err := eureka.Unpacked(http.MaxBytesReader(w, req.Body, limits.Bytes), req.Header.Get("Content-Encoding"))
	if err != nil {
		refuseBody(w, eureka.JSON, err)
		return
	}
	items, err := eureka.ReadReplication(body, limits)
	if err != nil {
		refuseBody(w, eureka.JSON, err)
		return
	}
	results := make([]eureka.ReplicationResult, len(items))
	for i := range items {
		results[i] = a.replicate(&items[i])
	}
	a.send(w, req, form{format: eureka.JSON}, &answer{plain: eureka.AppendReplicationResults(nil, results)})
}

// replicate does what one item says, as a call by itself would.
func (r *Registry) replicate(item *eureka.ReplicationItem) eureka.ReplicationResult {
	key := instanceKey{strings.ToUpper(item.AppName), item.ID}
	switch item.Action {
	case eureka.Register:
		return eureka.ReplicationResult{StatusCode: r.registerItem(key, item.Instance)}
	case eureka.Heartbeat:
		status, newer := r.heartbeat(heartbeat{key: key, dirty: millis(item.LastDirty), override: item.OverriddenStatus, replicated: true})
		return eureka.ReplicationResult{StatusCode: status, Instance: newer}
	case eureka.Cancel:
		return eureka.ReplicationResult{StatusCode: found(r.cancel(key, causeCanceled, true))}
	case eureka.StatusUpdate:
		return eureka.ReplicationResult{StatusCode: r.changeStatus(key, item.Status, millis(item.LastDirty), true)}
	case eureka.DeleteStatusOverride:
		if item.LastDirty.IsZero() {
			return eureka.ReplicationResult{StatusCode: http.StatusInternalServerError}
		}
		return eureka.ReplicationResult{StatusCode: r.dropOverride(key, item.Status, millis(item.LastDirty), true)}
	}
	return eureka.ReplicationResult{StatusCode: http.StatusInternalServerError}
}

// registerItem answers 200 to an invalid instance too, which then is not registered,
// as in the original; one that does not fit is worth another attempt.
func (r *Registry) registerItem(key instanceKey, i *eureka.Instance) int {
	if i == nil {
		return http.StatusInternalServerError
	}
	complete(i)
	if err := r.validate(i, key.app); err != nil {
		r.log.Warn("peer sent an instance that is not valid", "instance", key.label(), "error", err)
		return http.StatusOK
	}
	if err := r.register(i, true); errors.Is(err, errFull) {
		r.log.Warn("registration refused", "instance", key.label(), "error", err)
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
