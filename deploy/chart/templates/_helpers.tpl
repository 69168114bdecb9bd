{{- define "oriel.name" -}}
{{- if contains "oriel" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-oriel" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "oriel.selector" -}}
app.kubernetes.io/name: oriel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "oriel.labels" -}}
{{ include "oriel.selector" . }}
app.kubernetes.io/component: {{ .Values.role }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "oriel.host" -}}
{{ .Values.externalHostname | default (printf "%s.%s.svc" (include "oriel.name" .) .Release.Namespace) }}
{{- end }}

{{/* The Secret of the serving certificate; empty when the program generates one. */}}
{{- define "oriel.certificateSecret" -}}
{{- if .Values.certificate.certManager.enabled }}{{ include "oriel.name" . }}-tls{{ else }}{{ .Values.certificate.secretName }}{{ end }}
{{- end }}

{{/* A flag with a file of a Secret: the parts are the flag, the volume and the file. */}}
{{- define "oriel.fileFlag" -}}
- {{ printf "--%s=/etc/oriel/%s/%s" (index . 0) (index . 1) (index . 2) | quote }}
{{- end }}

{{/* The volumes of Secrets, as a YAML list of name and secretName. */}}
{{- define "oriel.secrets" -}}
{{- $role := .Values.role }}
{{- with include "oriel.certificateSecret" . }}
- {name: certificate, secretName: {{ . }}}
{{- end }}
{{- with .Values.authentication.clientCASecret }}
- {name: client-ca, secretName: {{ . }}}
{{- end }}
{{- with .Values.authentication.requestHeaderCASecret }}
- {name: requestheader-ca, secretName: {{ . }}}
{{- end }}
{{- if ne $role "views" }}
{{- with .Values.authentication.tokenSecret }}
- {name: tokens, secretName: {{ . }}}
{{- end }}
{{- with .Values.serviceAccountKeySecret }}
- {name: service-account-key, secretName: {{ . }}}
{{- end }}
{{- end }}
{{- if eq $role "replicas" }}
{{- with .Values.etcd.tlsSecret }}
- {name: etcd, secretName: {{ . }}}
{{- end }}
{{- end }}
{{- if eq $role "views" }}
- {name: kubeconfig, secretName: {{ .Values.shard.kubeconfigSecret }}}
{{- end }}
{{- end }}

{{- define "oriel.args" -}}
{{- if eq .Values.role "views" }}
- virtual-workspaces
- --kubeconfig=/etc/oriel/kubeconfig/kubeconfig
{{- with .Values.shard.context }}
- {{ printf "--context=%s" . | quote }}
{{- end }}
- --secure-port=6443
- --cert-dir=/data
{{- else }}
- start
- --data-directory=/data
- --port=6443
{{- end }}
- --bind-address=0.0.0.0
- --external-hostname={{ include "oriel.host" . }}
{{- if include "oriel.certificateSecret" . }}
{{ include "oriel.fileFlag" (list "tls-cert-file" "certificate" "tls.crt") }}
{{ include "oriel.fileFlag" (list "tls-private-key-file" "certificate" "tls.key") }}
{{- if ne .Values.role "views" }}
{{ include "oriel.fileFlag" (list "root-ca-file" "certificate" "ca.crt") }}
{{- end }}
{{- end }}
{{- if .Values.authentication.clientCASecret }}
{{ include "oriel.fileFlag" (list "client-ca-file" "client-ca" "ca.crt") }}
{{- end }}
{{- if .Values.authentication.requestHeaderCASecret }}
{{ include "oriel.fileFlag" (list "requestheader-client-ca-file" "requestheader-ca" "ca.crt") }}
{{- with .Values.authentication.requestHeaderAllowedNames }}
- {{ printf "--requestheader-allowed-names=%s" (join "," .) | quote }}
{{- end }}
{{- end }}
{{- if ne .Values.role "views" }}
{{- if .Values.authentication.tokenSecret }}
{{ include "oriel.fileFlag" (list "token-auth-file" "tokens" "tokens.csv") }}
{{- end }}
{{- if .Values.serviceAccountKeySecret }}
{{ include "oriel.fileFlag" (list "service-account-key-file" "service-account-key" "sa.key") }}
{{- end }}
{{- end }}
{{- if eq .Values.role "replicas" }}
- {{ printf "--store=etcd://%s" (join "," .Values.etcd.endpoints) | quote }}
- {{ printf "--etcd-prefix=%s" .Values.etcd.prefix | quote }}
{{- if .Values.etcd.tlsSecret }}
{{ include "oriel.fileFlag" (list "etcd-cafile" "etcd" "ca.crt") }}
{{ include "oriel.fileFlag" (list "etcd-certfile" "etcd" "tls.crt") }}
{{ include "oriel.fileFlag" (list "etcd-keyfile" "etcd" "tls.key") }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "oriel.pod" -}}
metadata:
  labels: {{- include "oriel.labels" . | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "oriel.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: oriel
      image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: {{- include "oriel.args" . | trim | nindent 8 }}
      ports:
        - {name: https, containerPort: 6443, protocol: TCP}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      startupProbe:
        httpGet: {path: /livez, port: https, scheme: HTTPS}
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /livez, port: https, scheme: HTTPS}
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: https, scheme: HTTPS}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      resources: {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
        {{- range include "oriel.secrets" . | fromYamlArray }}
        - {name: {{ .name }}, mountPath: /etc/oriel/{{ .name }}, readOnly: true}
        {{- end }}
  {{- if or (ne .Values.role "server") (include "oriel.secrets" . | trim) }}
  volumes:
    {{- if ne .Values.role "server" }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- range include "oriel.secrets" . | fromYamlArray }}
    - name: {{ .name }}
      secret: {secretName: {{ .secretName }}, defaultMode: 288}
    {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.affinity }}
  affinity: {{- toYaml .Values.affinity | nindent 4 }}
  {{- else if ne .Values.role "server" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "oriel.selector" . | nindent 10 }}
  {{- end }}
{{- end }}
