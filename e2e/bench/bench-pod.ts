/** Pods whose numbers differ by a multiple of this have the same label `app` and node. */
export const POD_GROUPS = 500;

/** A typical pod of about 2.5 KB as stored, with a few variables and mounts. */
export function benchPod(index: number, name = `pod-${String(index)}`): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { app: `app-${String(index % POD_GROUPS)}`, tier: 'backend', release: 'stable' },
      annotations: { 'example.com/checksum': 'a3f5'.repeat(16), 'example.com/owner': 'team-blue' },
    },
    spec: {
      nodeName: `node-${String(index % POD_GROUPS)}`,
      containers: ['main', 'sidecar'].map((container) => ({
        name: container,
        image: `registry.example/${container}:1.2.3`,
        args: ['--listen=0.0.0.0:8080', '--log-level=info'],
        ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
        env: Array.from({ length: 8 }, (_, variable) => ({
          name: `SETTING_${String(variable)}`,
          value: `value-${String(variable)}`,
        })),
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        volumeMounts: [{ name: 'config', mountPath: '/etc/app' }],
      })),
      volumes: [{ name: 'config', configMap: { name: 'app-config' } }],
    },
  };
}
