{{/* The plan of `orch-admin certs`, as YAML. Names of bundles are those of their Secrets. */}}
{{- define "orch.certificatePlan" -}}
{{- $days := .Values.certificates.validDays -}}
{{- $names := ternary "system:kube-controller-manager" "system:controller-manager" (eq .Values.dialect "kubernetes") -}}
authorities:
  {{- range $bundle := list "serving-ca" "client-ca" "front-proxy-ca" "etcd-ca" }}
  {{- if or (ne $bundle "etcd-ca") $.Values.etcd.enabled }}
  - { name: {{ include "orch.secret" (list $ $bundle) }}, commonName: orch-{{ $bundle }}, validDays: {{ $.Values.certificates.authorityValidDays }} }
  {{- end }}
  {{- end }}
certificates:
  - name: {{ include "orch.secret" (list . "serving") }}
    authority: {{ include "orch.secret" (list . "serving-ca") }}
    commonName: orch-apiserver
    hosts: {{ include "orch.apiserverHosts" . }}
    usages: [server]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "admin") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: admin
    organizations: ['system:masters']
    usages: [client]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "monitoring") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: monitoring
    organizations: ['system:monitoring']
    usages: [client]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "front-proxy-client") }}
    authority: {{ include "orch.secret" (list . "front-proxy-ca") }}
    commonName: front-proxy-client
    usages: [client]
    validDays: {{ $days }}
  # Node agents that know their clients by this authority let superusers in.
  - name: {{ include "orch.secret" (list . "kubelet-client") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: orch-apiserver-kubelet-client
    organizations: ['system:masters']
    usages: [client]
    validDays: {{ $days }}
  {{- if eq .Values.redis.mode "chart" }}
  - name: {{ include "orch.secret" (list . "redis-server") }}
    authority: {{ include "orch.secret" (list . "serving-ca") }}
    commonName: orch-redis
    hosts: {{ include "orch.redisHosts" . }}
    usages: [server]
    validDays: {{ $days }}
    restart: {{ include "orch.name" . }}-redis
  {{- end }}
  {{- if .Values.controllerManager.replicas }}
  - name: {{ include "orch.secret" (list . "controller-manager") }}
    authority: {{ include "orch.secret" (list . "client-ca") }}
    commonName: {{ $names | quote }}
    usages: [client]
    validDays: {{ $days }}
    restart: {{ include "orch.name" . }}-controller-manager
  {{- end }}
  {{- if .Values.etcd.enabled }}
  - name: {{ include "orch.secret" (list . "etcd-server") }}
    authority: {{ include "orch.secret" (list . "etcd-ca") }}
    commonName: orch-etcd
    hosts: {{ include "orch.etcdHosts" . }}
    usages: [server, client]
    validDays: {{ $days }}
  - name: {{ include "orch.secret" (list . "etcd-client") }}
    authority: {{ include "orch.secret" (list . "etcd-ca") }}
    commonName: orch-apiserver
    usages: [client]
    validDays: {{ $days }}
  {{- end }}
record: {{ include "orch.secret" (list . "record") }}
tokenKeys:
  - {{ include "orch.secret" (list . "service-account") }}
{{- if eq .Values.encryption.mode "generated" }}
encryptionKeys:
  - { name: {{ include "orch.secret" (list . "encryption") }}, resources: {{ toJson .Values.encryption.resources }} }
{{- end }}
{{- if eq .Values.redis.mode "chart" }}
passwords:
  - {{ include "orch.secret" (list . "redis-password") }}
{{- end }}
{{- end -}}

{{/* The pod that creates bundles, or only renews them. Takes the root, and flags of `certs ensure`. */}}
{{- define "orch.certificatesPod" -}}
{{- $flags := index . 1 -}}
{{- with index . 0 -}}
metadata:
  labels: {{- include "orch.podLabels" (list . "certificates") | nindent 4 }}
spec:
  serviceAccountName: {{ include "orch.name" . }}-certificates
  restartPolicy: OnFailure
  enableServiceLinks: false
  {{- with include "orch.pullSecrets" . | trim }}{{ . | nindent 2 }}{{- end }}
  securityContext: {{- include "orch.podSecurity" . | nindent 4 }}
  containers:
    - name: certificates
      image: {{ include "orch.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [node, /opt/orch/dist/deploy/admin/main.js]
      args:
        - certs
        - ensure
        - --plan=/etc/orch/plan/plan.yaml
        - --secrets-namespace={{ .Release.Namespace }}
        - --secrets-labels=app.kubernetes.io/part-of=orch,app.kubernetes.io/instance={{ .Release.Name }}
        {{- range $flags }}
        - {{ . }}
        {{- end }}
      env:
        # The dialect of the host cluster, whose Secrets these are.
        - { name: ORCH_DIALECT, value: kubernetes }
      resources:
        requests: { cpu: 50m, memory: 96Mi }
        limits: { memory: 256Mi }
      securityContext: {{- include "orch.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: plan, mountPath: /etc/orch/plan, readOnly: true }
  volumes:
    - name: plan
      configMap:
        name: {{ include "orch.name" . }}-certificate-plan
{{- end -}}
{{- end -}}
