package accesslog

import (
	"strconv"
	"time"
)

// jsonLine makes an object of all fields that there are.
func jsonLine(request, response []shownHeader) func([]byte, *entry) []byte {
	return func(dst []byte, e *entry) []byte {
		dst = append(dst, `{"time":"`...)
		dst = append(e.times.json(dst, e.Start), '"')
		dst = jsonRequest(dst, e)
		dst = jsonAccount(dst, e)
		dst = jsonUpstream(dst, e)
		dst = jsonTLS(dst, e)
		dst = jsonText(dst, e, `,"cause":"`, e.cause())
		if e.Aborted() {
			dst = append(dst, `,"cut":true`...)
		}
		dst = jsonText(dst, e, `,"user_agent":"`, e.userAgent())
		dst = jsonText(dst, e, `,"referer":"`, e.referer())
		dst = jsonHeaders(dst, e, `,"request_headers":{`, request, true)
		dst = jsonHeaders(dst, e, `,"response_headers":{`, response, false)
		return append(dst, '}')
	}
}

// jsonRequest and those below append members of allFields, which are named here once more
// because a line costs half of what it does by way of that table.
func jsonRequest(dst []byte, e *entry) []byte {
	trace, span := e.trace()
	dst = jsonText(dst, e, `,"request_id":"`, e.RequestID)
	dst = jsonText(dst, e, `,"trace_id":"`, trace)
	dst = jsonText(dst, e, `,"span_id":"`, span)
	if addr := e.origin.Addr; addr.IsValid() {
		dst = append(addr.AppendTo(append(dst, `,"client":"`...)), '"')
	}
	dst = jsonText(dst, e, `,"peer":"`, e.peer())
	dst = jsonText(dst, e, `,"method":"`, e.Request.Method)
	dst = jsonText(dst, e, `,"scheme":"`, e.origin.Scheme)
	dst = jsonText(dst, e, `,"host":"`, e.Request.Host)
	dst = jsonText(dst, e, `,"path":"`, e.path())
	dst = jsonText(dst, e, `,"query":"`, e.query())
	return jsonText(dst, e, `,"protocol":"`, e.Request.Proto)
}

func jsonAccount(dst []byte, e *entry) []byte {
	a := &e.account
	dst = strconv.AppendInt(append(dst, `,"status":`...), e.status(), 10)
	if status := e.callStatus(); status >= 0 {
		dst = strconv.AppendInt(append(dst, `,"grpc_status":`...), status, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"bytes_in":`...), a.BytesIn, 10)
	dst = strconv.AppendInt(append(dst, `,"bytes_out":`...), a.BytesOut, 10)
	dst = appendMillis(append(dst, `,"took_ms":`...), a.Took)
	dst = appendMillis(append(dst, `,"pre_ms":`...), a.Pre)
	dst = appendMillis(append(dst, `,"route_ms":`...), a.Route)
	dst = appendMillis(append(dst, `,"post_ms":`...), a.Post)
	if a.Error > 0 {
		dst = appendMillis(append(dst, `,"error_ms":`...), a.Error)
	}
	if a.Tunnel > 0 {
		dst = appendMillis(append(dst, `,"tunnel_ms":`...), a.Tunnel)
	}
	return dst
}

func jsonUpstream(dst []byte, e *entry) []byte {
	dst = jsonText(dst, e, `,"route":"`, e.route())
	dst = jsonText(dst, e, `,"service":"`, e.ServiceID)
	attempts, last := e.attempts(), e.last()
	if attempts == absent {
		return dst
	}
	dst = jsonText(dst, e, `,"server":"`, last.Server)
	dst = strconv.AppendInt(append(dst, `,"attempts":`...), attempts, 10)
	if last.Status > 0 {
		dst = strconv.AppendInt(append(dst, `,"upstream_status":`...), int64(last.Status), 10)
	}
	if last.Took > 0 {
		dst = appendMillis(append(dst, `,"upstream_ms":`...), last.Took)
	}
	return dst
}

func jsonTLS(dst []byte, e *entry) []byte {
	if e.Request.TLS == nil {
		return dst
	}
	dst = jsonText(dst, e, `,"tls":"`, e.tlsVersion())
	return jsonText(dst, e, `,"cipher":"`, e.cipher())
}

func jsonText(dst []byte, e *entry, key, text string) []byte {
	if text == "" {
		return dst
	}
	return append(appendJSON(append(dst, key...), shortened(text, e.log.MaxField)), '"')
}

// appendMillis appends milliseconds with three digits behind the point.
func appendMillis(dst []byte, d time.Duration) []byte {
	micros := max(d.Microseconds(), 0)
	dst = strconv.AppendInt(dst, micros/1000, 10)
	rest := micros % 1000
	return append(dst, '.', digits[rest/100], digits[rest/10%10], digits[rest%10])
}

func jsonHeaders(dst []byte, e *entry, begin string, list []shownHeader, ofRequest bool) []byte {
	none := len(dst)
	for _, h := range list {
		value := e.header(h, ofRequest)
		if value == "" {
			continue
		}
		if len(dst) == none {
			dst = append(dst, begin...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendJSON(append(dst, '"'), h.name), '"', ':', '"')
		dst = append(appendJSON(dst, shortened(value, e.log.MaxField)), '"')
	}
	if len(dst) == none {
		return dst
	}
	return append(dst, '}')
}
