package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is the clients.
type load struct {
	options
	url    string
	client *http.Client
	calls  map[string]*calls
	end    context.CancelFunc
	ended  sync.WaitGroup
}

// calls are the times that one kind of call took, and how many failed.
type calls struct {
	mu     sync.Mutex
	took   []time.Duration
	bytes  int64
	failed int64
}

func newLoad(o options, url string) *load {
	l := &load{options: o, url: url, calls: map[string]*calls{}}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConns: 1000, MaxIdleConnsPerHost: 1000, DisableCompression: true}, Timeout: 30 * time.Second}
	for _, kind := range kinds() {
		l.calls[kind] = &calls{}
	}
	return l
}

const (
	registering = "register"
	renewing    = "heartbeat"
	polling     = "delta"
	reading     = "full list"
)

func kinds() []string { return []string{registering, renewing, polling, reading} }

func (l *load) app(k int) string { return fmt.Sprintf("APP-%d", k%l.apps) }
func (l *load) id(k int) string  { return fmt.Sprintf("host-%d.example.org:app-%d:8080", k, k%l.apps) }

func (l *load) document(k int, dirty time.Time) string {
	return fmt.Sprintf(`{"instance":{"instanceId":"%s","hostName":"host-%d.example.org","app":"%s","ipAddr":"10.%d.%d.%d","status":"UP","overriddenStatus":"UNKNOWN",`+
		`"port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},"countryId":1,`+
		`"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},`+
		`"leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,"registrationTimestamp":0,"lastRenewalTimestamp":0,"evictionTimestamp":0,"serviceUpTimestamp":0},`+
		`"metadata":{"management.port":"8080","note":"%s"},"homePageUrl":"http://host-%d.example.org:8080/","statusPageUrl":"http://host-%d.example.org:8080/actuator/info",`+
		`"healthCheckUrl":"http://host-%d.example.org:8080/actuator/health","vipAddress":"app-%d","secureVipAddress":"app-%d","isCoordinatingDiscoveryServer":"false",`+
		`"lastUpdatedTimestamp":"%d","lastDirtyTimestamp":"%d"}}`,
		l.id(k), k, l.app(k), k>>16&255, k>>8&255, k&255, strings.Repeat("x", l.metadata), k, k, k, k%l.apps, k%l.apps, dirty.UnixMilli(), dirty.UnixMilli())
}

// do makes a call and notes how long it took.
func (l *load) do(ctx context.Context, kind, method, path, body string, want int) {
	req, err := http.NewRequestWithContext(ctx, method, l.url+path, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("DiscoveryIdentity-Name", "DefaultClient")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	res, err := l.client.Do(req)
	var n int64
	status := 0
	if err == nil {
		n, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		status = res.StatusCode
	}
	if ctx.Err() != nil {
		return
	}
	c := l.calls[kind]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, time.Since(began))
	c.bytes += n
	if err != nil || status != want {
		c.failed++
	}
}

func (l *load) register(ctx context.Context, k int) {
	l.do(ctx, registering, http.MethodPost, "apps/"+l.app(k), l.document(k, time.Now()), http.StatusNoContent)
}

// registerAll fills the registry as fast as it goes.
func (l *load) registerAll(ctx context.Context) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for k := int(next.Add(1)) - 1; k < l.instances && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
				l.register(ctx, k)
			}
		})
	}
	workers.Wait()
	if failed := l.calls[registering].failed; failed > 0 {
		return fmt.Errorf("%d of %d registrations failed", failed, l.instances)
	}
	return ctx.Err()
}

// start begins the steady load.
func (l *load) start(parent context.Context) {
	ctx, end := context.WithCancel(parent)
	l.end = end
	l.steady(ctx, l.instances, l.renew, func(k int) {
		l.do(ctx, renewing, http.MethodPut, "apps/"+l.app(k)+"/"+l.id(k)+"?status=UP", "", http.StatusOK)
	})
	l.steady(ctx, l.pollers, l.poll, func(int) { l.do(ctx, polling, http.MethodGet, "apps/delta", "", http.StatusOK) })
	l.steady(ctx, l.readers, l.read, func(int) { l.do(ctx, reading, http.MethodGet, "apps/", "", http.StatusOK) })
	if l.change > 0 {
		l.steady(ctx, 1, l.change, func(int) { l.register(ctx, int(time.Now().UnixNano()/int64(l.change))%l.instances) })
	}
}

// steady calls f for each of n clients once per interval, evenly spread. A client
// whose last call has not returned does not hold up the others.
func (l *load) steady(ctx context.Context, n int, interval time.Duration, f func(k int)) {
	if n == 0 {
		return
	}
	l.ended.Go(func() {
		begin := time.Now()
		for turn := 0; ; turn++ {
			due := begin.Add(time.Duration(turn) * interval / time.Duration(n))
			if !wait(ctx, time.Until(due)) {
				return
			}
			l.ended.Go(func() { f(turn % n) })
		}
	})
}

func (l *load) stop() {
	l.end()
	l.ended.Wait()
}

// forget drops what was noted so far, but for the registrations.
func (l *load) forget() {
	for kind, c := range l.calls {
		if kind == registering {
			continue
		}
		c.mu.Lock()
		c.took, c.bytes, c.failed = nil, 0, 0
		c.mu.Unlock()
	}
}
