import type { Body } from './client';

/** The parts of a container that the tests of the chart read. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly fieldRef?: { readonly fieldPath: string };
      readonly secretKeyRef?: { readonly name: string; readonly key: string };
    };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string; readonly scheme?: string };
  readonly tcpSocket?: { readonly port: string };
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

/** Selected files of a Secret or ConfigMap. */
interface Files {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface Volume extends VolumeSource {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly projected?: { readonly sources: readonly VolumeSource[] };
}

export interface VolumeSource {
  readonly secret?: Files & { readonly secretName?: string; readonly name?: string };
  readonly configMap?: Files & { readonly name: string };
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly restartPolicy?: string;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** The pod template of an object; a Pod is its own template. Undefined for other objects. */
export function podTemplateOf({ kind, metadata, spec }: Body): PodTemplate | undefined {
  if (kind === 'Pod')
    return { metadata: { labels: metadata?.labels ?? {} }, spec: spec as unknown as PodSpec };
  const own = ownerSpecOf(spec);
  return kind === 'CronJob' ? own.jobTemplate?.spec.template : own.template;
}

/** The parts of a `spec` of any kind that the tests of the chart read. */
export interface OwnerSpec {
  readonly replicas?: number;
  readonly schedule?: string;
  readonly strategy?: {
    readonly rollingUpdate: { readonly maxSurge: number; readonly maxUnavailable: number };
  };
  readonly selector?: unknown;
  readonly template?: PodTemplate;
  readonly jobTemplate?: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
    readonly spec: { readonly template: PodTemplate };
  };
  readonly clusterIP?: string;
  readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
}

/** Returns that part of a `spec`; empty if there is none. */
export function ownerSpecOf(spec: Readonly<Record<string, unknown>> = {}): OwnerSpec {
  return spec;
}

/** The sources of a volume. */
export function sourcesOf({ projected, ...own }: Volume): readonly VolumeSource[] {
  return projected?.sources ?? [own];
}
