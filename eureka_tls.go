package gozer

import (
	"errors"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// registryTLS is the section about the way to registries.
const registryTLS = "eureka.client.tls"

// registryFiles reads what registries are called with: the client's, and the peers of the one in
// this process. Nil leaves everything to the system.
func registryFiles(cfg *config.Config) (*tlsout.Material, error) {
	c := cfg.Eureka.Client
	if !c.TLS.Enabled || !c.Active() && !cfg.Registry.Enabled {
		return nil, nil
	}
	files := tlsout.Files{TrustCertificate: c.TLS.TrustCertificate, Certificate: c.TLS.Certificate, PrivateKey: c.TLS.PrivateKey}
	m, err := files.Load()
	if problems := fileFindings(cfg, err, registryTLS); len(problems) > 0 {
		return nil, &config.SettingsError{Findings: problems}
	}
	return m, nil
}

// fileFindings places what is wrong with files at the keys that name them, in the first of the
// sections that has the key.
func fileFindings(cfg *config.Config, err error, sections ...string) (all []config.Finding) {
	for _, problem := range separate(err) {
		broken, ok := errors.AsType[*tlsout.FileError](problem)
		if !ok {
			continue
		}
		f := config.Finding{Severity: config.Error, Message: broken.Error()}
		for _, section := range sections {
			f.Key = section + "." + broken.Part.String()
			if f.Position = cfg.Place(f.Key); f.Position != (config.Position{}) {
				break
			}
		}
		all = append(all, f)
	}
	return all
}
