package ribboncmd

import (
	"encoding/json"
	"time"
)

// The messages of Hystrix's streams (hystrix.md 5.3 and 5.4), field by field in
// the original order. All numbers are integers: Turbine takes anything else for
// text. What the gateway does not have is false or 0, since the dashboard insists
// on most fields.

type commandMessage struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Group string `json:"group"`
	Time  int64  `json:"currentTime"`
	Open  bool   `json:"isCircuitBreakerOpen"`

	ErrorPercentage int   `json:"errorPercentage"`
	ErrorCount      int64 `json:"errorCount"`
	RequestCount    int64 `json:"requestCount"`

	BadRequests        int64 `json:"rollingCountBadRequests"`
	CollapsedRequests  int64 `json:"rollingCountCollapsedRequests"`
	Emit               int64 `json:"rollingCountEmit"`
	ExceptionsThrown   int64 `json:"rollingCountExceptionsThrown"`
	Failure            int64 `json:"rollingCountFailure"`
	FallbackEmit       int64 `json:"rollingCountFallbackEmit"`
	FallbackFailure    int64 `json:"rollingCountFallbackFailure"`
	FallbackMissing    int64 `json:"rollingCountFallbackMissing"`
	FallbackRejection  int64 `json:"rollingCountFallbackRejection"`
	FallbackSuccess    int64 `json:"rollingCountFallbackSuccess"`
	ResponsesFromCache int64 `json:"rollingCountResponsesFromCache"`
	SemaphoreRejected  int64 `json:"rollingCountSemaphoreRejected"`
	ShortCircuited     int64 `json:"rollingCountShortCircuited"`
	Success            int64 `json:"rollingCountSuccess"`
	ThreadPoolRejected int64 `json:"rollingCountThreadPoolRejected"`
	Timeout            int64 `json:"rollingCountTimeout"`

	Concurrent    int64 `json:"currentConcurrentExecutionCount"`
	MaxConcurrent int64 `json:"rollingMaxConcurrentExecutionCount"`

	ExecuteMean int64       `json:"latencyExecute_mean"`
	Execute     percentiles `json:"latencyExecute"`
	TotalMean   int64       `json:"latencyTotal_mean"`
	Total       percentiles `json:"latencyTotal"`

	commandProperties

	ReportingHosts int    `json:"reportingHosts"`
	ThreadPool     string `json:"threadPool"`
}

type percentiles struct {
	P0   int64 `json:"0"`
	P25  int64 `json:"25"`
	P50  int64 `json:"50"`
	P75  int64 `json:"75"`
	P90  int64 `json:"90"`
	P95  int64 `json:"95"`
	P99  int64 `json:"99"`
	P995 int64 `json:"99.5"`
	P100 int64 `json:"100"`
}

type commandProperties struct {
	VolumeThreshold    int     `json:"propertyValue_circuitBreakerRequestVolumeThreshold"`
	SleepWindow        int64   `json:"propertyValue_circuitBreakerSleepWindowInMilliseconds"`
	ErrorThreshold     int     `json:"propertyValue_circuitBreakerErrorThresholdPercentage"`
	ForceOpen          bool    `json:"propertyValue_circuitBreakerForceOpen"`
	ForceClosed        bool    `json:"propertyValue_circuitBreakerForceClosed"`
	Enabled            bool    `json:"propertyValue_circuitBreakerEnabled"`
	Strategy           string  `json:"propertyValue_executionIsolationStrategy"`
	ThreadTimeout      int64   `json:"propertyValue_executionIsolationThreadTimeoutInMilliseconds"`
	Timeout            int64   `json:"propertyValue_executionTimeoutInMilliseconds"`
	InterruptOnTimeout bool    `json:"propertyValue_executionIsolationThreadInterruptOnTimeout"`
	PoolKeyOverride    *string `json:"propertyValue_executionIsolationThreadPoolKeyOverride"`
	MaxConcurrent      int     `json:"propertyValue_executionIsolationSemaphoreMaxConcurrentRequests"`
	MaxFallbacks       int     `json:"propertyValue_fallbackIsolationSemaphoreMaxConcurrentRequests"`
	Window             int64   `json:"propertyValue_metricsRollingStatisticalWindowInMilliseconds"`
	RequestCache       bool    `json:"propertyValue_requestCacheEnabled"`
	RequestLog         bool    `json:"propertyValue_requestLogEnabled"`
}

type poolMessage struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Time int64  `json:"currentTime"`

	Active    int   `json:"currentActiveCount"`
	Completed int64 `json:"currentCompletedTaskCount"`
	Core      int   `json:"currentCorePoolSize"`
	Largest   int   `json:"currentLargestPoolSize"`
	Maximum   int   `json:"currentMaximumPoolSize"`
	Size      int   `json:"currentPoolSize"`
	Queue     int   `json:"currentQueueSize"`
	Tasks     int64 `json:"currentTaskCount"`

	Executed   int64 `json:"rollingCountThreadsExecuted"`
	MaxActive  int   `json:"rollingMaxActiveThreads"`
	Rejections int64 `json:"rollingCountCommandRejections"`

	Threshold      int   `json:"propertyValue_queueSizeRejectionThreshold"`
	Window         int64 `json:"propertyValue_metricsRollingStatisticalWindowInMilliseconds"`
	ReportingHosts int   `json:"reportingHosts"`
}

// Message is the command in hystrix.stream, as JSON on one line.
func (s *Snapshot) Message(now time.Time) []byte {
	return encoded(commandMessage{
		Type: "HystrixCommand", Name: s.Service, Group: s.Group, Time: now.UnixMilli(), Open: s.IsOpen,
		ErrorPercentage: s.ErrorPercentage, ErrorCount: s.Errors, RequestCount: s.Requests,

		BadRequests:        s.Rolling[EventBadRequest],
		ExceptionsThrown:   s.Rolling[EventExceptionThrown],
		Failure:            s.Rolling[EventFailure],
		FallbackFailure:    s.Rolling[EventFallbackFailure],
		FallbackMissing:    s.Rolling[EventFallbackMissing],
		FallbackRejection:  s.Rolling[EventFallbackRejection],
		FallbackSuccess:    s.Rolling[EventFallbackSuccess],
		SemaphoreRejected:  s.Rolling[EventSemaphoreRejected],
		ShortCircuited:     s.Rolling[EventShortCircuited],
		Success:            s.Rolling[EventSuccess],
		ThreadPoolRejected: s.Rolling[EventThreadPoolRejected],
		Timeout:            s.Rolling[EventTimeout],

		Concurrent: s.Concurrent, MaxConcurrent: s.MaxConcurrent,
		ExecuteMean: s.Execute.Mean.Milliseconds(), Execute: s.Execute.percentiles(),
		TotalMean: s.Total.Mean.Milliseconds(), Total: s.Total.percentiles(),

		commandProperties: s.properties(),
		ReportingHosts:    1,
		ThreadPool:        s.Settings.Pool.Key,
	})
}

func (s *Snapshot) properties() commandProperties {
	p, b := &s.Settings, &s.Settings.Breaker
	return commandProperties{
		VolumeThreshold:    b.RequestVolumeThreshold,
		SleepWindow:        b.SleepWindow.Milliseconds(),
		ErrorThreshold:     b.ErrorThresholdPercentage,
		ForceOpen:          b.ForceOpen || s.Override == ForcedOpen,
		ForceClosed:        b.ForceClosed || s.Override == ForcedClosed,
		Enabled:            b.Enabled,
		Strategy:           p.Isolation.String(),
		ThreadTimeout:      p.Timeout.Milliseconds(),
		Timeout:            p.Timeout.Milliseconds(),
		InterruptOnTimeout: p.InterruptOnTimeout,
		MaxConcurrent:      s.Limit,
		MaxFallbacks:       p.Fallback.MaxConcurrent,
		Window:             p.Window.Milliseconds(),
	}
}

func (l *Latency) percentiles() percentiles {
	var at [numPercentiles]int64
	for i, d := range l.At {
		at[i] = d.Milliseconds()
	}
	return percentiles{at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]}
}

// Message is the pool in hystrix.stream, as JSON on one line.
func (p *PoolSnapshot) Message(now time.Time) []byte {
	workers := p.Settings.Workers()
	return encoded(poolMessage{
		Type: "HystrixThreadPool", Name: p.Key, Time: now.UnixMilli(),
		Active: p.Active, Completed: p.Completed, Core: p.Settings.CoreSize, Largest: p.Largest, Maximum: workers,
		Size: workers, Queue: p.Waiting, Tasks: p.Completed + int64(p.Active+p.Waiting),
		Executed: p.RollingExecuted, MaxActive: p.RollingMostActive, Rejections: p.RollingRejected,
		Threshold: p.Settings.QueueSizeRejectionThreshold, Window: p.Settings.Window.Milliseconds(), ReportingHosts: 1,
	})
}

func encoded(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic("ribboncmd: " + err.Error()) // plain fields only: cannot happen
	}
	return text
}
