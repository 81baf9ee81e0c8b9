package eureka

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Java classes of data centres.
const (
	defaultClass = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
	amazonClass  = "com.netflix.appinfo.AmazonInfo"
)

// draft is an instance that is being read, by either format.
type draft struct {
	*Instance
	shared   *shared
	amazon   map[string]string // metadata of the data centre
	old      bool              // written by the codec that escapes metadata keys in JSON too
	hasApp   bool
	problems []string // what makes a registration wrong but not a list
}

func newDraft(s *shared) *draft {
	return &draft{shared: s, Instance: &Instance{
		Status:     Up,
		Port:       Port{DefaultPort, true},
		SecurePort: Port{DefaultSecurePort, false},
		CountryID:  DefaultCountryID,
	}}
}

func (d *draft) problem(format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, args...))
}

// set takes a field with a plain value and passes over an unknown one.
func (d *draft) set(field string, value []byte) {
	if text := d.textField(field); text != nil {
		*text = d.shared.text(value)
		return
	}
	switch field {
	case "app":
		d.App, d.hasApp = d.shared.upper(value), true
	case "appGroupName":
		d.AppGroup = d.shared.upper(value)
	case "status":
		d.Status, _ = ParseStatus(string(value))
	case "overriddenStatus", "overriddenstatus":
		d.OverriddenStatus, _ = ParseStatus(string(value))
	case "actionType":
		d.Action = ParseAction(string(value))
	case "countryId":
		if n, ok := wholeNumber(value); ok {
			d.CountryID = int(n)
		}
	case "isCoordinatingDiscoveryServer":
		d.CoordinatingDiscoveryServer = isTrue(value)
	case "lastUpdatedTimestamp":
		d.LastUpdated = moment(value)
	case "lastDirtyTimestamp":
		d.LastDirty = moment(value)
	}
}

func (d *draft) textField(field string) *string {
	switch field {
	case "instanceId":
		return &d.ID
	case "hostName":
		return &d.HostName
	case "ipAddr":
		return &d.IPAddr
	case "sid":
		return &d.SID
	case "vipAddress":
		return &d.VIPAddress
	case "secureVipAddress":
		return &d.SecureVIPAddress
	case "homePageUrl":
		return &d.HomePageURL
	case "statusPageUrl":
		return &d.StatusPageURL
	case "healthCheckUrl":
		return &d.HealthCheckURL
	case "secureHealthCheckUrl":
		return &d.SecureHealthCheckURL
	case "asgName":
		return &d.ASGName
	}
	return nil
}

// setLease takes a field of leaseInfo.
func (d *draft) setLease(field string, value []byte) {
	l := &d.Lease
	switch field {
	case "renewalIntervalInSecs":
		l.RenewalInterval = seconds(value)
	case "durationInSecs":
		l.Duration = seconds(value)
	case "registrationTimestamp":
		l.Registered = momentOrNever(value)
	case "lastRenewalTimestamp", "renewalTimestamp":
		l.Renewed = momentOrNever(value)
	case "evictionTimestamp":
		l.Evicted = momentOrNever(value)
	case "serviceUpTimestamp":
		l.ServiceUp = momentOrNever(value)
	}
}

// endLease fills in the durations.
func (d *draft) endLease() {
	if d.Lease.RenewalInterval <= 0 {
		d.Lease.RenewalInterval = DefaultRenewalInterval
	}
	if d.Lease.Duration <= 0 {
		d.Lease.Duration = DefaultLeaseDuration
	}
}

func (d *draft) setPort(p *Port, value []byte) {
	n, ok := wholeNumber(value)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		d.problem("a port is no number")
		n = 0
	}
	p.Number = int(n)
}

// addMetadata reports false when there is no room for another entry.
func (d *draft) addMetadata(m *map[string]string, key string, value []byte) bool {
	if *m == nil {
		*m = make(map[string]string)
	}
	(*m)[key] = d.shared.text(value)
	return len(*m) <= d.shared.limits.Metadata
}

// endDataCenter settles which data centre it is: the class decides, without one the
// name. Metadata is Amazon's alone.
func (d *draft) endDataCenter() {
	c := &d.DataCenter
	switch {
	case c.Class == amazonClass:
		c.Name = Amazon
	case c.Name != "":
		c.Name = d.centreName(c.Name)
	}
	if c.Name == Amazon && (c.Class == amazonClass || c.Class == "") {
		c.Class, c.Metadata = amazonClass, d.amazon
		if c.Metadata == nil {
			c.Metadata = map[string]string{}
		}
		return
	}
	c.Class = defaultClass
}

func (d *draft) centreName(name string) string {
	for _, known := range [...]string{MyOwn, Amazon, Netflix} {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	d.problem("unknown data centre %.40q", name)
	return MyOwn
}

// finish gives the instance, of a list.
func (d *draft) finish() *Instance {
	if d.SID == "na" {
		d.SID = ""
	}
	if d.old && len(d.Metadata) > 0 {
		plain := make(map[string]string, len(d.Metadata))
		for key, value := range d.Metadata {
			plain[unescapeName(key)] = value
		}
		d.Metadata = plain
	}
	return d.Instance
}

// finishStrictly gives the instance of a registration.
func (d *draft) finishStrictly() (*Instance, error) {
	i := d.finish()
	if !d.hasApp {
		d.problem("app is missing")
	}
	if len(d.problems) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrMalformed, d.problems[0])
	}
	return i, nil
}

func isTrue(value []byte) bool { return bytes.EqualFold(bytes.TrimSpace(value), []byte("true")) }

// wholeNumber reads an integer; a fraction is cut off.
func wholeNumber(value []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(math.Abs(f) < math.MaxInt64) {
		return 0, false
	}
	return int64(f), true
}

// moment reads milliseconds; what is no number is the epoch.
func moment(value []byte) time.Time {
	n, _ := wholeNumber(value)
	return time.UnixMilli(n)
}

func momentOrNever(value []byte) time.Time {
	if n, ok := wholeNumber(value); ok && n != 0 {
		return time.UnixMilli(n)
	}
	return time.Time{}
}

// seconds is 0 for what is not understood.
func seconds(value []byte) time.Duration {
	n, _ := wholeNumber(value)
	return time.Duration(min(max(n, 0), math.MaxInt32)) * time.Second
}
