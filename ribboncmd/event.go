package ribboncmd

// Event is something that commands count, by Hystrix's names. Each execution
// adds one of the events up to EventCancelled, and perhaps one about its
// fallback.
type Event uint8

// The events: executions, fallbacks, errors returned.
const (
	EventSuccess Event = iota
	EventFailure
	EventTimeout
	EventBadRequest
	EventShortCircuited
	EventThreadPoolRejected
	EventSemaphoreRejected
	EventCancelled
	EventFallbackSuccess
	EventFallbackFailure
	EventFallbackRejection
	EventFallbackDisabled
	EventFallbackMissing
	EventExceptionThrown // an error was returned to the caller
	numEvents
)

// String returns Hystrix's name of the event.
func (e Event) String() string {
	if e >= numEvents {
		return "UNKNOWN"
	}
	return [numEvents]string{
		EventSuccess:            "SUCCESS",
		EventFailure:            "FAILURE",
		EventTimeout:            "TIMEOUT",
		EventBadRequest:         "BAD_REQUEST",
		EventShortCircuited:     "SHORT_CIRCUITED",
		EventThreadPoolRejected: "THREAD_POOL_REJECTED",
		EventSemaphoreRejected:  "SEMAPHORE_REJECTED",
		EventCancelled:          "CANCELLED",
		EventFallbackSuccess:    "FALLBACK_SUCCESS",
		EventFallbackFailure:    "FALLBACK_FAILURE",
		EventFallbackRejection:  "FALLBACK_REJECTION",
		EventFallbackDisabled:   "FALLBACK_DISABLED",
		EventFallbackMissing:    "FALLBACK_MISSING",
		EventExceptionThrown:    "EXCEPTION_THROWN",
	}[e]
}

// MarshalText makes events readable keys of JSON objects.
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

func (o Outcome) event() Event {
	switch o {
	case Success:
		return EventSuccess
	case Failure:
		return EventFailure
	case Timeout:
		return EventTimeout
	case ShortCircuited:
		return EventShortCircuited
	case SemaphoreRejected:
		return EventSemaphoreRejected
	case ThreadPoolRejected:
		return EventThreadPoolRejected
	case FallbackRejected:
		return EventFallbackRejection
	case BadRequest:
		return EventBadRequest
	case Cancelled:
		return EventCancelled
	}
	return EventFailure
}
