/**
 * The valid spec of a pod of about 3 KB to which most validation rules apply: probes, security contexts, affinities, topology spread,
 * volumes of five kinds, variables from references, quantities.
 */
export function richPodSpec(count: number): object {
  const probe = { httpGet: { path: '/healthz', port: 'http', scheme: 'HTTPS' }, periodSeconds: 5 };
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] };
  return {
    serviceAccountName: 'default',
    securityContext: {
      runAsNonRoot: true,
      fsGroup: 2000,
      sysctls: [{ name: 'net.core.somaxconn', value: '512' }],
    },
    initContainers: [{ name: 'prepare', image: 'registry.example/prepare:1', command: ['sh', '-c', 'true'] }],
    containers: ['main', 'sidecar'].map((name) => ({
      name,
      image: `registry.example/${name}:1.2.${String(count)}`,
      ports: [{ containerPort: 8443, name: 'http' }],
      env: [
        { name: 'COUNT', value: String(count) },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password', optional: true } } },
        { name: 'CORES', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
      ],
      envFrom: [{ prefix: 'APP_', configMapRef: { name: 'settings' } }],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '0.5', memory: '1Gi' } },
      volumeMounts: ['config', 'data', 'scratch'].map((volume) => ({
        name: volume,
        mountPath: `/mnt/${volume}`,
      })),
      livenessProbe: probe,
      readinessProbe: { ...probe, failureThreshold: 2 },
      startupProbe: { ...probe, failureThreshold: 30 },
      lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
      securityContext: {
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      },
    })),
    volumes: [
      { name: 'config', configMap: { name: 'settings', items: [{ key: 'a', path: 'a.conf', mode: 256 }] } },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'all', projected: { sources: [{ secret: { name: 'db' } }, { downwardAPI: { items: [] } }] } },
      { name: 'host', hostPath: { path: '/var/log', type: 'Directory' } },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 10, podAffinityTerm: { labelSelector: selector, topologyKey: 'zone' } },
        ],
      },
    },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'web', effect: 'NoSchedule' }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
    ],
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['db.example.com'] }],
    dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '2' }] },
  };
}

/** A Deployment of that pod, different for each count. */
export function benchDeployment(name: string, count: number): object {
  const labels = { app: 'web', release: 'stable' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template: { metadata: { labels }, spec: richPodSpec(count) },
    },
  };
}
