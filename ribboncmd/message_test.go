package ribboncmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// golden is the snapshot of testdata/command.golden.json, which the dashboard's own
// validator has accepted.
func golden() ribboncmd.Snapshot {
	s := ribboncmd.DefaultSettings()
	at := [9]time.Duration{0, 3 * ms, 5 * ms, 8 * ms, 12 * ms, 20 * ms, 40 * ms, 55 * ms, 90 * ms}
	latency := ribboncmd.Latency{Count: 40, Mean: 7 * ms, At: at}
	s.Pool.Key = ribboncmd.DefaultPoolKey
	return ribboncmd.Snapshot{
		Service: "orders", Group: "RibbonCommand", Requests: 40, Errors: 1, ErrorPercentage: 2,
		Rolling: map[ribboncmd.Event]int64{
			ribboncmd.EventSuccess: 39, ribboncmd.EventFailure: 1, ribboncmd.EventFallbackSuccess: 1,
		},
		Concurrent: 2, MaxConcurrent: 4, Limit: 100, Execute: latency, Total: latency, Settings: s,
	}
}

var then = time.UnixMilli(1700000000000)

func TestCommandMessage(t *testing.T) {
	want, err := os.ReadFile("testdata/command.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	s := golden()
	got := s.Message(then)
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if bytes.ContainsRune(got, '\n') {
		t.Error("more than one line")
	}
}

// What the dashboard's validator looks for; without any of these, or with null, it
// draws nothing.
const (
	commandFields = `reportingHosts type name group isCircuitBreakerOpen errorPercentage errorCount requestCount
		rollingCountCollapsedRequests rollingCountExceptionsThrown rollingCountFailure rollingCountFallbackFailure
		rollingCountFallbackRejection rollingCountFallbackSuccess rollingCountResponsesFromCache rollingCountSemaphoreRejected
		rollingCountShortCircuited rollingCountSuccess rollingCountThreadPoolRejected rollingCountTimeout rollingCountBadRequests
		currentConcurrentExecutionCount latencyExecute_mean latencyExecute latencyTotal_mean latencyTotal
		propertyValue_circuitBreakerRequestVolumeThreshold propertyValue_circuitBreakerSleepWindowInMilliseconds
		propertyValue_circuitBreakerErrorThresholdPercentage propertyValue_circuitBreakerForceOpen
		propertyValue_circuitBreakerForceClosed propertyValue_executionIsolationStrategy
		propertyValue_executionIsolationThreadTimeoutInMilliseconds propertyValue_executionIsolationThreadInterruptOnTimeout
		propertyValue_executionIsolationSemaphoreMaxConcurrentRequests propertyValue_fallbackIsolationSemaphoreMaxConcurrentRequests
		propertyValue_requestCacheEnabled propertyValue_requestLogEnabled propertyValue_metricsRollingStatisticalWindowInMilliseconds`
	poolFields = `type name currentActiveCount currentCompletedTaskCount currentCorePoolSize currentLargestPoolSize
		currentMaximumPoolSize currentPoolSize currentQueueSize currentTaskCount rollingCountThreadsExecuted rollingMaxActiveThreads
		reportingHosts propertyValue_queueSizeRejectionThreshold propertyValue_metricsRollingStatisticalWindowInMilliseconds`
)

func TestWhatTheDashboardReads(t *testing.T) {
	empty, pool := ribboncmd.Snapshot{}, ribboncmd.PoolSnapshot{}
	for name, row := range map[string]struct {
		message []byte
		fields  string
	}{
		"command": {empty.Message(then), commandFields},
		"pool":    {pool.Message(then), poolFields},
	} {
		t.Run(name, func(t *testing.T) {
			var m map[string]any
			d := json.NewDecoder(bytes.NewReader(row.message))
			d.UseNumber()
			if err := d.Decode(&m); err != nil {
				t.Fatal(err)
			}
			for f := range strings.FieldsSeq(row.fields) {
				if m[f] == nil {
					t.Errorf("%s is missing", f)
				}
			}
			wantIntegers(t, m)
		})
	}
}

// wantIntegers looks for what Turbine would count as text.
func wantIntegers(t *testing.T, m map[string]any) {
	t.Helper()
	for name, v := range m {
		switch v := v.(type) {
		case json.Number:
			if _, err := v.Int64(); err != nil {
				t.Errorf("%s is %s", name, v)
			}
		case map[string]any:
			wantIntegers(t, v)
		}
	}
}

func TestPoolMessage(t *testing.T) {
	p := ribboncmd.PoolSnapshot{
		Key: "maps", Active: 2, Waiting: 1, Largest: 7, Completed: 40, Rejected: 9, RollingExecuted: 30, RollingRejected: 3, RollingMostActive: 5,
		Settings: ribboncmd.DefaultPoolSettings(),
	}
	const want = `{"type":"HystrixThreadPool","name":"maps","currentTime":1700000000000,"currentActiveCount":2,"currentCompletedTaskCount":40,` +
		`"currentCorePoolSize":10,"currentLargestPoolSize":7,"currentMaximumPoolSize":10,"currentPoolSize":10,"currentQueueSize":1,"currentTaskCount":43,` +
		`"rollingCountThreadsExecuted":30,"rollingMaxActiveThreads":5,"rollingCountCommandRejections":3,` +
		`"propertyValue_queueSizeRejectionThreshold":5,"propertyValue_metricsRollingStatisticalWindowInMilliseconds":10000,"reportingHosts":1}`
	if diff := cmp.Diff(want, string(p.Message(then))); diff != "" {
		t.Error(diff)
	}
}

func TestConfigMessage(t *testing.T) {
	t.Run("Q15 forced closed and the percentile's buckets", func(t *testing.T) {
		s := golden()
		s.Settings.Breaker.ForceClosed = true
		pools := []ribboncmd.PoolSnapshot{{Key: "maps", Settings: ribboncmd.DefaultPoolSettings()}}
		const want = `{"type":"HystrixConfig","commands":{"orders":{"threadPoolKey":"RibbonCommand","groupKey":"RibbonCommand",` +
			`"execution":{"isolationStrategy":"SEMAPHORE","threadPoolKeyOverride":null,"requestCacheEnabled":false,"requestLogEnabled":false,` +
			`"timeoutEnabled":true,"fallbackEnabled":true,"timeoutInMilliseconds":4000,"semaphoreSize":100,"fallbackSemaphoreSize":10,"threadInterruptOnTimeout":true},` +
			`"metrics":{"healthBucketSizeInMs":500,"percentileBucketSizeInMilliseconds":10000,"percentileBucketCount":6,"percentileEnabled":true,` +
			`"counterBucketSizeInMilliseconds":1000,"counterBucketCount":10},` +
			`"circuitBreaker":{"enabled":true,"isForcedOpen":false,"isForcedClosed":true,"requestVolumeThreshold":20,"errorPercentageThreshold":50,"sleepInMilliseconds":5000}}},` +
			`"threadpools":{"maps":{"coreSize":10,"maximumSize":10,"actualMaximumSize":10,"maxQueueSize":-1,"queueRejectionThreshold":5,"keepAliveTimeInMinutes":0,` +
			`"allowMaximumSizeToDivergeFromCoreSize":false,"counterBucketSizeInMilliseconds":1000,"counterBucketCount":10}},"collapsers":{}}` //nolint:misspell // Hystrix's word
		if diff := cmp.Diff(want, string(ribboncmd.ConfigMessage([]ribboncmd.Snapshot{s}, pools))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("utilization", func(t *testing.T) {
		pools := []ribboncmd.PoolSnapshot{{Key: "maps", Active: 3, Waiting: 1, Settings: ribboncmd.DefaultPoolSettings()}}
		const want = `{"type":"HystrixUtilization","commands":{"orders":{"activeCount":2}},` +
			`"threadpools":{"maps":{"activeCount":3,"queueSize":1,"corePoolSize":10,"poolSize":10}}}`
		if diff := cmp.Diff(want, string(ribboncmd.UtilizationMessage([]ribboncmd.Snapshot{golden()}, pools))); diff != "" {
			t.Error(diff)
		}
	})
}
