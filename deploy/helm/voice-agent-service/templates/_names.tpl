{{/* Names and labels of everything in the release. */}}
{{- define "voice.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "voice.selector" -}}
app.kubernetes.io/name: voice-agent-service
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end -}}

{{- define "voice.labels" -}}
app.kubernetes.io/name: voice-agent-service
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "voice.secret" -}}
{{- if .Values.secrets.create }}{{ include "voice.name" . }}{{ else }}{{ .Values.secrets.existing }}{{ end -}}
{{- end -}}

{{- define "voice.account" -}}
{{- default (include "voice.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "voice.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{/* What the service needs after SIGTERM (docs/reference/server-settings.md), 2 s to be on the safe side, and the wait before SIGTERM. */}}
{{- define "voice.gracePeriod" -}}
{{- with .Values.drain -}}
{{ add .timeoutSeconds .cancelGraceSeconds .abortWaitSeconds 7 2 .preStopSeconds }}
{{- end -}}
{{- end -}}

{{- define "voice.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
