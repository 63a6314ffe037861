{{- /* Names and labels that several templates use. */ -}}

{{- define "causeway.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "causeway.selector" -}}
app.kubernetes.io/name: causeway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .Values.plane }}
{{- end -}}

{{- define "causeway.labels" -}}
{{ include "causeway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- /* What the control plane is called in metrics: global, or the zone. */ -}}
{{- define "causeway.plane" -}}
{{- if eq .Values.plane "zone" }}{{ .Values.settings.zoneName }}{{ else }}global{{ end -}}
{{- end -}}

{{- /* Every name that clients in the cluster know its Services by, and those of the values. */ -}}
{{- define "causeway.certificateNames" -}}
{{- $names := list -}}
{{- $services := ternary (list "" "-xds") (list "" "-kds") (eq .Values.plane "zone") -}}
{{- range $suffix := $services -}}
{{- $service := printf "%s%s" (include "causeway.name" $) $suffix -}}
{{- $names = concat $names (list $service (printf "%s.%s" $service $.Release.Namespace) (printf "%s.%s.svc" $service $.Release.Namespace) (printf "%s.%s.svc.cluster.local" $service $.Release.Namespace)) -}}
{{- end -}}
{{- concat $names .Values.certificates.names | join "," -}}
{{- end -}}

{{- /* The secrets that are given: the key of the values, the file that the program reads, and the variable that names it. */ -}}
{{- define "causeway.secretFiles" -}}
database: { file: database-url, variable: DATABASE_URL_FILE }
redis: { file: redis-url, variable: REDIS_URL_FILE }
operatorToken: { file: operator-token, variable: CAUSEWAY_OPERATOR_TOKEN_FILE }
secretsKey: { file: secrets-key, variable: CAUSEWAY_SECRETS_KEY_FILE }
{{- if eq .Values.plane "zone" }}
zoneToken: { file: zone-token, variable: CAUSEWAY_ZONE_TOKEN_FILE }
globalAuthority: { file: global-ca.pem, variable: CAUSEWAY_GLOBAL_CA_FILE }
{{- end }}
{{- end -}}
