/** Objects that tests write, complete enough to pass the validation of their kind. */
export function configMap(name: string, data: Readonly<Record<string, string>> = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

export function namespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function pod(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
  };
}

export function deployment(name: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      },
    },
  };
}

export function service(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}

export function secret(name: string): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', data: { key: 'dmFsdWU=' } };
}

/** Pods need their service account, which does not exist without a controller-manager. */
export function defaultServiceAccount(): object {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
}
