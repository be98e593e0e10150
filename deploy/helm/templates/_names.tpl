{{- define "twin.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "twin.secret" -}}
{{- .Values.secret.existing | default (include "twin.name" .) -}}
{{- end }}

{{- define "twin.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "twin.labels" -}}
app.kubernetes.io/name: edge-cloud-twin
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* settings of all processes */}}
{{- define "twin.environment" -}}
envFrom:
  - secretRef: {name: {{ include "twin.secret" . }}}
env:
  - {name: TWIN_VAR_DIR, value: /data}
  - {name: UPLOAD_DIR, value: /uploads}
  {{- if .Values.hosts }}
  - {name: ALLOWED_HOSTS, value: {{ printf "%s,localhost" (join "," .Values.hosts) | quote }}}
  - name: CSRF_TRUSTED_ORIGINS
    value: {{ printf "https://%s" (join ",https://" .Values.hosts) | quote }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: uploads, mountPath: /uploads}
securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
{{- end }}
