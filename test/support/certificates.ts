/** Certificates for tests that look at no time; they end in 2126, and their keys are nowhere. */

/** An authority of the trust domain `default.east.mesh.local`. */
export const EAST_AUTHORITY = [
  '-----BEGIN CERTIFICATE-----',
  'MIIB2zCCAYCgAwIBAgIUP9b+9W4UnTONArUbPaB8WMsG1hgwCgYIKoZIzj0EAwIw',
  'IjEgMB4GA1UEAwwXZGVmYXVsdC5lYXN0Lm1lc2gubG9jYWwwIBcNMjYxMTIyMjM0',
  'NjE5WhgPMjEyNjEwMjkyMzQ2MTlaMCIxIDAeBgNVBAMMF2RlZmF1bHQuZWFzdC5t',
  'ZXNoLmxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEULnFBBqysaLzIpQZ',
  'OGqbUuU8eRO8CC7SWNChlsl1phDIDSSOPQ/202rgczZXMTDbZrx5hzdKLSDdQ7Hq',
  'ERV/gKOBkTCBjjAdBgNVHQ4EFgQUX2TUsd9zaBgysatun5OXRfIbsWAwHwYDVR0j',
  'BBgwFoAUX2TUsd9zaBgysatun5OXRfIbsWAwDwYDVR0TAQH/BAUwAwEB/zAOBgNV',
  'HQ8BAf8EBAMCAQYwKwYDVR0RBCQwIoYgc3BpZmZlOi8vZGVmYXVsdC5lYXN0Lm1l',
  'c2gubG9jYWwwCgYIKoZIzj0EAwIDSQAwRgIhANqY2oiWfsi0n1kFeP24ADrwlQVG',
  'kABYrp4FWZSKkctJAiEArPA9ENHgkbLWMBtnnTVt+aXrhmKw2mAVj+b4HwIikTo=',
  '-----END CERTIFICATE-----',
  '',
].join('\n');

/** Another authority of the same trust domain, with another key. */
export const NEXT_EAST_AUTHORITY = [
  '-----BEGIN CERTIFICATE-----',
  'MIIB2TCCAYCgAwIBAgIUBY2LvAroTgRGVnkoh5lSpo1pImQwCgYIKoZIzj0EAwIw',
  'IjEgMB4GA1UEAwwXZGVmYXVsdC5lYXN0Lm1lc2gubG9jYWwwIBcNMjYxMTIyMjM0',
  'NjE5WhgPMjEyNjEwMjkyMzQ2MTlaMCIxIDAeBgNVBAMMF2RlZmF1bHQuZWFzdC5t',
  'ZXNoLmxvY2FsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMTNNvqfBn3QjwSvp',
  'mXMzEoL8EMgobUbJmdPtPCB/j/lSbWgDyso9GNK63SpoYrBnaTmhVB3HhoUB9JQ4',
  '6/aRMqOBkTCBjjAdBgNVHQ4EFgQUW3rHc6GU/Y+tNOm0zDv857A2AskwHwYDVR0j',
  'BBgwFoAUW3rHc6GU/Y+tNOm0zDv857A2AskwDwYDVR0TAQH/BAUwAwEB/zAOBgNV',
  'HQ8BAf8EBAMCAQYwKwYDVR0RBCQwIoYgc3BpZmZlOi8vZGVmYXVsdC5lYXN0Lm1l',
  'c2gubG9jYWwwCgYIKoZIzj0EAwIDRwAwRAIgSD+SSftChk6bh2WB5oOTUAtKgWmp',
  'ly/1it6WarwzYVICIHBR1C1vl2ETSWm0WxT4zMQt7XoxuiH+1APja39sWnNO',
  '-----END CERTIFICATE-----',
  '',
].join('\n');

/** A certificate that may sign no other. */
export const LEAF_CERTIFICATE = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBczCCARigAwIBAgIUXAp/8NsC/vfDDTcY4L2va9/I9ggwCgYIKoZIzj0EAwIw',
  'DzENMAsGA1UEAwwEbGVhZjAgFw0yNjExMjIyMzQ2MTlaGA8yMTI2MTAyOTIzNDYx',
  'OVowDzENMAsGA1UEAwwEbGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPqz',
  '5be7mo7NS3yO5RRTzH772sLw9IjFcO3JxTyC7neMB2fZFPZP0yV4QZU4Kn6905ZP',
  'P/H9dCa5pmnz1Bu2eKGjUDBOMB0GA1UdDgQWBBSRLJMbyQr1f31PTtNaOjYyxyrH',
  '8zAfBgNVHSMEGDAWgBSRLJMbyQr1f31PTtNaOjYyxyrH8zAMBgNVHRMBAf8EAjAA',
  'MAoGCCqGSM49BAMCA0kAMEYCIQDd8Li2uvpKST946pfOpWE/F8fIyTY6N3gOoYai',
  'u8fqygIhALBm8CvcVB1y2fNpPZmjWggAL5vXxXOyPAq3x6FGN3uS',
  '-----END CERTIFICATE-----',
  '',
].join('\n');
