import type { Strategy } from '../strategy';

/** apps/v1. */
export const apps: Readonly<Record<string, Strategy>> = {
  daemonsets: { tracksGeneration: true },
  deployments: { tracksGeneration: true },
  replicasets: { tracksGeneration: true, selectableFields: { 'status.replicas': '0' } },
  statefulsets: { tracksGeneration: true },
};

/** batch/v1. */
export const batch: Readonly<Record<string, Strategy>> = {
  jobs: { defaultPropagation: 'Orphan', selectableFields: { 'status.successful': '0' } },
};

/** coordination. */
export const coordination: Readonly<Record<string, Strategy>> = {
  leases: { createsOnUpdate: true, requiresResourceVersion: true },
};
