package telemetry

import (
	"net/http"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// What a request names freely is folded into a few values, so that no client makes
// series (C221).

// otherMethod stands for all methods that are not among the known ones.
const otherMethod = "_OTHER"

// numMethods includes otherMethod, which has index 0.
const numMethods = 10

func methodName(i int) string {
	return [numMethods]string{
		otherMethod, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace,
	}[i]
}

func methodIndex(method string) int {
	switch method {
	case http.MethodGet:
		return 1
	case http.MethodHead:
		return 2
	case http.MethodPost:
		return 3
	case http.MethodPut:
		return 4
	case http.MethodPatch:
		return 5
	case http.MethodDelete:
		return 6
	case http.MethodOptions:
		return 7
	case http.MethodConnect:
		return 8
	case http.MethodTrace:
		return 9
	}
	return 0
}

// numClasses are the classes of statuses; index 0 is for requests without a status and
// for statuses above 599.
const numClasses = 6

func className(i int) string {
	return [numClasses]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}[i]
}

func classIndex(status int) int {
	if status < 100 || status > 599 {
		return 0
	}
	return status / 100
}

// callCounts are calls by grpc-status: the codes in order, then other codes, then none.
type callCounts [numCodes + 2]atomic.Int64

const numCodes = int(grpc.Unauthenticated) + 1

func callIndex(code int, told bool) int {
	switch {
	case !told:
		return numCodes + 1
	case code < 0 || code >= numCodes:
		return numCodes
	}
	return code
}

func callName(i int) string {
	switch i {
	case numCodes:
		return "other"
	case numCodes + 1:
		return "none"
	}
	return grpc.Code(i).String()
}
