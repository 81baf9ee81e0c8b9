package eureka_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// many is a registry of 10,000 instances in 500 applications.
func many() *eureka.Applications {
	list := &eureka.Applications{VersionsDelta: 1, HasHash: true}
	for app := range 500 {
		a := eureka.Application{Name: fmt.Sprintf("SERVICE-%d", app)}
		for n := range 20 {
			host := fmt.Sprintf("node%d-%d.example.org", app, n)
			i := full()
			i.ID, i.HostName, i.App, i.Status = host+":service:8080", host, a.Name, eureka.Up
			i.DataCenter = eureka.DataCenter{Name: eureka.MyOwn, Class: "x"}
			i.HomePageURL, i.StatusPageURL, i.HealthCheckURL = "http://"+host+":8080/", "http://"+host+":8080/actuator/info", "http://"+host+":8080/actuator/health"
			i.Metadata = map[string]string{"zone": "zone-a", "management.port": "8081", "version": "1.2.3"}
			a.Instances = append(a.Instances, i)
		}
		list.Applications = append(list.Applications, a)
	}
	list.HashCode = list.Hash()
	return list
}

func BenchmarkCodec(b *testing.B) {
	list := many()
	for _, f := range formats {
		document := eureka.Encoder{Format: f}.AppendApplications(nil, list)
		b.Run("encode/"+f.String(), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			buffer := make([]byte, 0, len(document))
			for b.Loop() {
				buffer = eureka.Encoder{Format: f}.AppendApplications(buffer[:0], list)
			}
		})
		b.Run("decode/"+f.String(), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (eureka.Decoder{Format: f}).Applications(bytes.NewReader(document)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
