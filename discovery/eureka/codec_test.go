package eureka_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

var formats = []eureka.Format{eureka.JSON, eureka.XML}

// at is a moment of the protocol.
func at(ms int64) time.Time { return time.UnixMilli(ms) }

// full is an instance with every field.
func full() *eureka.Instance {
	return &eureka.Instance{
		ID: "a:b:1", App: "B", AppGroup: "G", HostName: "a", IPAddr: "10.0.0.1", VIPAddress: "b,b-v2", SecureVIPAddress: "bs", SID: "s",
		Port: eureka.Port{Number: 8080, Enabled: true}, SecurePort: eureka.Port{Number: 8443}, CountryID: 2,
		DataCenter:  eureka.DataCenter{Name: eureka.Amazon, Class: "com.netflix.appinfo.AmazonInfo", Metadata: map[string]string{"instance-id": "i-1", "ami-id": "x"}},
		HomePageURL: "http://a/", StatusPageURL: "http://a/info", HealthCheckURL: "http://a/health", SecureHealthCheckURL: "https://a/health",
		Status: eureka.OutOfService, OverriddenStatus: eureka.OutOfService,
		Lease: eureka.Lease{
			RenewalInterval: 10 * time.Second, Duration: 40 * time.Second,
			Registered: at(1), Renewed: at(2), Evicted: at(3), ServiceUp: at(4),
		},
		Metadata:                    map[string]string{"a_b": "<&\">\n'", "we$ird": "é😀", "zone": "z"},
		CoordinatingDiscoveryServer: true, LastUpdated: at(5), LastDirty: at(6), Action: eureka.Modified, ASGName: "asg",
	}
}

func encode(e eureka.Encoder, i *eureka.Instance) string { return string(e.AppendInstance(nil, i)) }

func decode(f eureka.Format, text string) (*eureka.Instance, error) {
	return eureka.Decoder{Format: f}.Instance(strings.NewReader(text))
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tree is a JSON document without what encoders add: the flag that is always there.
func tree(t *testing.T, document []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return without(v, "isCoordinatingDiscoveryServer")
}

func without(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, key)
		for _, value := range v {
			without(value, key)
		}
	case []any:
		for _, value := range v {
			without(value, key)
		}
	}
	return v
}

func TestExamplePayloadsRoundTrip(t *testing.T) {
	t.Run("registration", func(t *testing.T) {
		document := file(t, "registration.json")
		i, err := eureka.Decoder{}.Instance(bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, document), tree(t, eureka.Encoder{}.AppendInstance(nil, i))); diff != "" {
			t.Error(diff)
		}
	})
	for _, name := range []string{"applications.json", "delta.json"} {
		t.Run(name, func(t *testing.T) {
			document := file(t, name)
			a, err := eureka.Decoder{}.Applications(bytes.NewReader(document))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, document), tree(t, eureka.Encoder{}.AppendApplications(nil, a))); diff != "" {
				t.Error(diff)
			}
			if name == "applications.json" && a.Hash() != a.HashCode {
				t.Errorf("hash %q, the document says %q", a.Hash(), a.HashCode)
			}
		})
	}
	t.Run("applications.xml", func(t *testing.T) {
		document := file(t, "applications.xml")
		a, err := eureka.Decoder{Format: eureka.XML}.Applications(bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		onOneLine := strings.Join(strings.FieldsFunc(string(document), func(r rune) bool { return r == '\n' }), "")
		for strings.Contains(onOneLine, "> ") {
			onOneLine = strings.ReplaceAll(onOneLine, "> ", ">")
		}
		order := strings.NewReplacer("<zone>rack-a</zone><build__no>12</build__no>", "<build__no>12</build__no><zone>rack-a</zone>")
		if diff := cmp.Diff(order.Replace(onOneLine), string(eureka.Encoder{Format: eureka.XML}.AppendApplications(nil, a))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("replication", func(t *testing.T) {
		document := file(t, "replication.json")
		items, err := eureka.ReadReplication(bytes.NewReader(document), eureka.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, document), tree(t, eureka.AppendReplication(nil, items))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("replication results", func(t *testing.T) {
		document := file(t, "replication-results.json")
		results, err := eureka.ReadReplicationResults(bytes.NewReader(document), eureka.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, document), tree(t, eureka.AppendReplicationResults(nil, results))); diff != "" {
			t.Error(diff)
		}
	})
}

// The text of one instance, to the letter.
func TestInstanceAsWritten(t *testing.T) {
	const amazonJSON = `"dataCenterInfo":{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon","metadata":{`
	const amazonXML = `<dataCenterInfo class="com.netflix.appinfo.AmazonInfo"><name>Amazon</name><metadata>`
	small := &eureka.Instance{App: "A", LastUpdated: at(5), DataCenter: eureka.DataCenter{Name: eureka.MyOwn}}
	list := func(i *eureka.Instance) *eureka.Applications {
		return &eureka.Applications{VersionsDelta: 3, HashCode: "UP_1_", Applications: []eureka.Application{{Name: i.App, Instances: []*eureka.Instance{i}}}}
	}
	for name, row := range map[string]struct{ got, want string }{
		"JSON": {
			encode(eureka.Encoder{}, full()),
			`{"instance":{"instanceId":"a:b:1","hostName":"a","app":"B","ipAddr":"10.0.0.1","sid":"s","status":"OUT_OF_SERVICE","overriddenStatus":"OUT_OF_SERVICE",` +
				`"port":{"$":8080,"@enabled":"true"},"securePort":{"$":8443,"@enabled":"false"},"countryId":2,` + amazonJSON + `"ami-id":"x","instance-id":"i-1"}},` +
				`"leaseInfo":{"renewalIntervalInSecs":10,"durationInSecs":40,"registrationTimestamp":1,"lastRenewalTimestamp":2,"evictionTimestamp":3,"serviceUpTimestamp":4},` +
				`"metadata":{"a_b":"<&\">\n'","we$ird":"é😀","zone":"z"},"appGroupName":"G",` +
				`"homePageUrl":"http://a/","statusPageUrl":"http://a/info","healthCheckUrl":"http://a/health","secureHealthCheckUrl":"https://a/health",` +
				`"vipAddress":"b,b-v2","secureVipAddress":"bs","isCoordinatingDiscoveryServer":"true","lastUpdatedTimestamp":"5","lastDirtyTimestamp":"6","actionType":"MODIFIED","asgName":"asg"}}`,
		},
		"eureka 85 empty metadata": {
			encode(eureka.Encoder{}, small),
			`{"instance":{"app":"A","status":"UNKNOWN","overriddenStatus":"UNKNOWN","port":{"$":0,"@enabled":"false"},"securePort":{"$":0,"@enabled":"false"},"countryId":1,` +
				`"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},"metadata":{"@class":"java.util.Collections$EmptyMap"},` +
				`"isCoordinatingDiscoveryServer":"false","lastUpdatedTimestamp":"5"}}`,
		},
		"eureka 88 compact JSON": {
			string(eureka.Encoder{Compact: true}.AppendApplications(nil, list(full()))),
			`{"applications":{"application":[{"name":"B","instance":[{"instanceId":"a:b:1","app":"B","ipAddr":"10.0.0.1","vipAddress":"b,b-v2","secureVipAddress":"bs",` +
				amazonJSON + `"instance-id":"i-1"}},"hostName":"a","status":"OUT_OF_SERVICE","lastUpdatedTimestamp":5,"actionType":"MODIFIED","asgName":"asg",` +
				`"port":{"$":8080,"@enabled":"true"},"securePort":{"$":8443,"@enabled":"false"}}]}],"registeredApplicationsEmpty":false,"versions__delta":"3","apps__hashcode":"UP_1_"}}`,
		},
		"empty list in JSON": {string(eureka.Encoder{}.AppendApplications(nil, &eureka.Applications{})), `{"applications":{"versions__delta":"0","apps__hashcode":"","application":[]}}`},
		"empty list in compact XML": {
			string(eureka.Encoder{Format: eureka.XML, Compact: true}.AppendApplications(nil, &eureka.Applications{})),
			`<applications><registeredApplicationsEmpty>true</registeredApplicationsEmpty><versions__delta>0</versions__delta><apps__hashcode></apps__hashcode></applications>`,
		},
		"application": {string(eureka.Encoder{Compact: true}.AppendApplication(nil, &eureka.Application{Name: "A"})), `{"application":{"name":"A","instance":[]}}`},
		"XML": {
			encode(eureka.Encoder{Format: eureka.XML}, full()),
			`<instance><instanceId>a:b:1</instanceId><hostName>a</hostName><app>B</app><ipAddr>10.0.0.1</ipAddr><sid>s</sid><status>OUT_OF_SERVICE</status><overriddenstatus>OUT_OF_SERVICE</overriddenstatus>` +
				`<port enabled="true">8080</port><securePort enabled="false">8443</securePort><countryId>2</countryId>` + amazonXML + `<ami-id>x</ami-id><instance-id>i-1</instance-id></metadata></dataCenterInfo>` +
				`<leaseInfo><renewalIntervalInSecs>10</renewalIntervalInSecs><durationInSecs>40</durationInSecs><registrationTimestamp>1</registrationTimestamp><lastRenewalTimestamp>2</lastRenewalTimestamp><evictionTimestamp>3</evictionTimestamp><serviceUpTimestamp>4</serviceUpTimestamp></leaseInfo>` +
				"<metadata><a__b>&lt;&amp;&quot;&gt;\n'</a__b><we_-ird>é😀</we_-ird><zone>z</zone></metadata><appGroupName>G</appGroupName>" +
				`<homePageUrl>http://a/</homePageUrl><statusPageUrl>http://a/info</statusPageUrl><healthCheckUrl>http://a/health</healthCheckUrl><secureHealthCheckUrl>https://a/health</secureHealthCheckUrl>` +
				`<vipAddress>b,b-v2</vipAddress><secureVipAddress>bs</secureVipAddress><isCoordinatingDiscoveryServer>true</isCoordinatingDiscoveryServer><lastUpdatedTimestamp>5</lastUpdatedTimestamp><lastDirtyTimestamp>6</lastDirtyTimestamp><actionType>MODIFIED</actionType><asgName>asg</asgName></instance>`,
		},
		"XML for version 1": {
			encode(eureka.Encoder{Format: eureka.XML, V1: true}, small),
			`<instance><app>A</app><status>DOWN</status><overriddenstatus>UNKNOWN</overriddenstatus><port enabled="false">0</port><securePort enabled="false">0</securePort><countryId>1</countryId>` +
				`<dataCenterInfo class="com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"><name>MyOwn</name></dataCenterInfo><metadata class="java.util.Collections$EmptyMap"></metadata>` +
				`<isCoordinatingDiscoveryServer>false</isCoordinatingDiscoveryServer><lastUpdatedTimestamp>5</lastUpdatedTimestamp></instance>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, row.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// eureka 78 with instances.
func TestEureka78InstanceRoundTrips(t *testing.T) {
	odd := full()
	odd.ID = "host name:svc/é%2F#1:8080"
	odd.Metadata = map[string]string{
		"a.b": "quote\"s & more", "a b": "😀", "<x>": strings.Repeat("x", 10<<10), "1st": "-", "ключ": "a\\b", "😀": "_", "_.0020": "__", "$_-": "$", "_": "_",
	}
	bare := &eureka.Instance{
		App: "A", Status: eureka.Up, Port: eureka.Port{Number: 7001, Enabled: true}, SecurePort: eureka.Port{Number: 7002}, CountryID: 1,
		DataCenter: eureka.DataCenter{Name: eureka.Netflix, Class: "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"},
	}
	for name, i := range map[string]*eureka.Instance{"every field": full(), "C181 odd characters": odd, "few fields": bare} {
		for _, f := range formats {
			t.Run(name+" in "+f.String(), func(t *testing.T) {
				got, err := decode(f, encode(eureka.Encoder{Format: f, Compact: true}, i))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(i, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// eureka 78 with lists.
func TestEureka78ListsRoundTrip(t *testing.T) {
	var list eureka.Applications
	for app := range 40 {
		a := eureka.Application{Name: fmt.Sprintf("APP%d", app)}
		for n := range 40 {
			i := full()
			i.App, i.ID = a.Name, strconv.Itoa(n)
			a.Instances = append(a.Instances, i)
		}
		list.Applications = append(list.Applications, a)
	}
	list.VersionsDelta, list.HashCode, list.HasHash = 7, list.Hash(), true
	for _, f := range formats {
		for _, compact := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s compact %v", f, compact), func(t *testing.T) {
				e := eureka.Encoder{Format: f, Compact: compact}
				document := e.AppendApplications(nil, &list)
				var streamed bytes.Buffer
				if err := e.WriteApplications(&streamed, &list); err != nil || !bytes.Equal(document, streamed.Bytes()) {
					t.Errorf("written in pieces it is %d bytes, else %d: %v", streamed.Len(), len(document), err)
				}
				got, err := eureka.Decoder{Format: f}.Applications(&streamed)
				if err != nil {
					t.Fatal(err)
				}
				if compact {
					wantCompact(t, list.Applications[39].Instances[39], got.Applications[39].Instances[39])
					return
				}
				if diff := cmp.Diff(&list, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// wantCompact checks that what the compact form has arrived, and nothing else.
func wantCompact(t *testing.T, sent, got *eureka.Instance) {
	t.Helper()
	want := *sent
	want.DataCenter.Metadata = map[string]string{"instance-id": "i-1"}
	want.AppGroup, want.SID, want.HomePageURL, want.StatusPageURL, want.HealthCheckURL, want.SecureHealthCheckURL = "", "", "", "", "", ""
	want.Metadata, want.Lease, want.OverriddenStatus, want.CountryID = nil, eureka.Lease{}, eureka.Unknown, 1
	want.CoordinatingDiscoveryServer, want.LastDirty = false, time.Time{}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFormatOf(t *testing.T) {
	for name, row := range map[string]struct {
		contentType string
		want        eureka.Format
		refused     bool
	}{
		"eureka 90 UTF-8":              {"application/json; charset=UTF-8", eureka.JSON, false},
		"eureka 90 latin 1":            {"application/json;charset=ISO-8859-1", eureka.JSON, false},
		"eureka 90 no charset's name":  {"application/json; charset=ISO-8859", 0, true},
		"none":                         {"", eureka.XML, false},
		"a wildcard":                   {"*/*", eureka.XML, false},
		"XML":                          {"Application/XML", eureka.XML, false},
		"another":                      {"text/html", 0, true},
		"something that is no type":    {";;", 0, true},
		"what registries answer, JSON": {eureka.JSON.ContentType(), eureka.JSON, false},
		"what registries answer, XML":  {eureka.XML.ContentType(), eureka.XML, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := eureka.FormatOf(row.contentType)
			if got != row.want || (err != nil) != row.refused {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
