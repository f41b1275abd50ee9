import type { ApiObject } from 'orch/client';
import { defineResource } from 'orch/client';

export interface SiteSpec {
  readonly host: string;
  readonly page: string;
  readonly replicas?: number;
}

/** A page that is served under a host name. */
export interface Site extends ApiObject {
  readonly spec: SiteSpec;
  readonly status?: {
    readonly phase: 'Deploying' | 'Ready';
    readonly readyReplicas: number;
    readonly observedGeneration: number;
  };
}

export const Sites = defineResource<Site>({
  group: 'example.com',
  version: 'v1',
  resource: 'sites',
  kind: 'Site',
});
