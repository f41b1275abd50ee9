{{/* A pod that runs orch-admin with etcd's client certificate and the target of backups. Takes the root, the component, words, and volumes and mounts as YAML lists. */}}
{{- define "orch.backupPod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $words := index . 2 -}}
{{- $volumes := index . 3 -}}
{{- $mounts := index . 4 -}}
{{- with index . 0 -}}
metadata:
  labels: {{- include "orch.podLabels" (list . $component) | nindent 4 }}
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with include "orch.pullSecrets" . | trim }}{{ . | nindent 2 }}{{- end }}
  securityContext: {{- include "orch.podSecurity" . | nindent 4 }}
  containers:
    - name: {{ $component }}
      image: {{ include "orch.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [node, /opt/orch/dist/deploy/admin/main.js]
      args:
        {{- toYaml $words | nindent 8 }}
      {{- if eq .Values.backup.target.type "s3" }}
      env:
        {{- range $variable, $key := dict "AWS_ACCESS_KEY_ID" "accessKeyId" "AWS_SECRET_ACCESS_KEY" "secretAccessKey" }}
        - name: {{ $variable }}
          valueFrom: { secretKeyRef: { name: {{ required "backup.target.s3.secretName is required" $root.Values.backup.target.s3.secretName }}, key: {{ $key }} } }
        {{- end }}
      {{- end }}
      resources: {{- toYaml .Values.backup.resources | nindent 8 }}
      securityContext: {{- include "orch.containerSecurity" . | nindent 8 }}
      volumeMounts:
        {{- include "orch.bundleMount" "etcd-client" | nindent 8 }}
        - { name: tmp, mountPath: /tmp }
        {{- if eq .Values.backup.target.type "pvc" }}
        - { name: backups, mountPath: /backups }
        {{- end }}
        {{- with $mounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    {{- include "orch.bundleVolume" (list . "etcd-client") | nindent 4 }}
    - { name: tmp, emptyDir: {} }
    {{- if eq .Values.backup.target.type "pvc" }}
    - name: backups
      persistentVolumeClaim: { claimName: {{ include "orch.backupClaim" . }} }
    {{- end }}
    {{- with $volumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "orch.backupClaim" -}}
{{- .Values.backup.target.pvc.claimName | default (printf "%s-backup" (include "orch.name" .)) -}}
{{- end -}}

{{/* Flags that name the target, as a JSON list. */}}
{{- define "orch.backupTarget" -}}
{{- $words := list -}}
{{- with .Values.backup.target -}}
{{- if eq .type "pvc" -}}
{{- $words = append $words "--target=/backups" -}}
{{- else -}}
{{- $prefix := .s3.prefix | default (printf "%s/%s" $.Release.Namespace (include "orch.name" $)) -}}
{{- $words = append $words (printf "--target=s3://%s/%s" (required "backup.target.s3.bucket is required" .s3.bucket) $prefix) -}}
{{- $words = append $words (printf "--s3-region=%s" .s3.region) -}}
{{- with .s3.endpoint -}}{{- $words = append $words (printf "--s3-endpoint=%s" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $words -}}
{{- end -}}

{{/* Flags that lead to etcd, as a JSON list. */}}
{{- define "orch.backupEtcd" -}}
{{- $name := printf "%s-etcd" (include "orch.name" .) -}}
{{- $servers := list -}}
{{- range $index := until (int .Values.etcd.members) -}}
{{- $servers = append $servers (printf "https://%s-%d.%s.%s.svc:2379" $name $index $name $.Release.Namespace) -}}
{{- end -}}
{{- toJson (list (printf "--etcd-servers=%s" (join "," $servers)) "--etcd-cafile=/etc/orch/etcd-client/ca.crt" "--etcd-certfile=/etc/orch/etcd-client/tls.crt" "--etcd-keyfile=/etc/orch/etcd-client/tls.key") -}}
{{- end -}}
