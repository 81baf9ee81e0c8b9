package ribboncmd

// Outcome is how one execution of a command ended, before any fallback; the
// exception is FallbackRejected.
type Outcome uint8

// The outcomes. All but Success are found in an Error.
const (
	Success            Outcome = iota // a response came in time, whatever its status
	Failure                           // the call returned an error or panicked
	Timeout                           // the deadline passed before the response head
	ShortCircuited                    // the circuit was open; nothing was called
	SemaphoreRejected                 // all permits were in use; nothing was called
	ThreadPoolRejected                // pool and queue were full; nothing was called
	FallbackRejected                  // too many fallbacks at once; see Error.Execution
	BadRequest                        // the call blamed the client, see AsBadRequest
	Cancelled                         // the caller went away first
)

// String returns the name of Hystrix's FailureType; SUCCESS and CANCELLED,
// which are none, are named after its events.
func (o Outcome) String() string {
	switch o {
	case Success:
		return "SUCCESS"
	case Failure:
		return "COMMAND_EXCEPTION"
	case Timeout:
		return "TIMEOUT"
	case ShortCircuited:
		return "SHORTCIRCUIT"
	case SemaphoreRejected:
		return "REJECTED_SEMAPHORE_EXECUTION"
	case ThreadPoolRejected:
		return "REJECTED_THREAD_EXECUTION"
	case FallbackRejected:
		return "REJECTED_SEMAPHORE_FALLBACK"
	case BadRequest:
		return "BAD_REQUEST_EXCEPTION"
	case Cancelled:
		return "CANCELLED"
	}
	return "UNKNOWN"
}

// verdict is what an outcome says about the health of the service.
type verdict uint8

const (
	noVerdict verdict = iota // nobody's failure, nor a proof of health
	healthy
	faulty
)

func (o Outcome) verdict() verdict {
	switch o {
	case Success:
		return healthy
	case Failure, Timeout, SemaphoreRejected, ThreadPoolRejected:
		return faulty
	case ShortCircuited, FallbackRejected, BadRequest, Cancelled:
	}
	return noVerdict
}
