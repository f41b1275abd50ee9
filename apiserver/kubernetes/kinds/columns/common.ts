import type { Deployment, StatefulSet } from '../../../../shared/api/types/apps-v1';
import type { PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import type { LabelSelector } from '../../../../shared/api/types/meta-v1';
import type { ApiObject } from '../../../../shared/object/object';
import { Age } from '../../../engine/registry/object-table';
import { selectorText } from './format';
import type { Column } from './table';

/** Columns that many kinds have. */

export const NAME: Column<ApiObject> = {
  name: 'Name',
  format: 'name',
  cell: ({ metadata }) => metadata.name ?? '',
};

export const AGE: Column<ApiObject> = {
  name: 'Age',
  cell: ({ metadata }) => new Age(metadata.creationTimestamp),
};

/** Containers and Images of a pod template. */
export function containerColumns<T>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
): readonly Column<T>[] {
  const texts = (object: T, field: 'name' | 'image'): string =>
    (templateOf(object)?.spec.containers ?? []).map((each) => each[field] ?? '').join(',');
  return [
    { name: 'Containers', isWide: true, cell: (object) => texts(object, 'name') },
    { name: 'Images', isWide: true, cell: (object) => texts(object, 'image') },
  ];
}

interface Workload {
  readonly spec: { readonly selector?: LabelSelector | null; readonly template: PodTemplateSpec };
}

/** Containers, Images and Selector of a workload. */
export const WORKLOAD_COLUMNS: readonly Column<Workload>[] = [
  ...containerColumns<Workload>(({ spec }) => spec.template),
  { name: 'Selector', isWide: true, cell: ({ spec }) => selectorText(spec.selector) },
];

export function readyOfDesired({ spec, status }: Deployment | StatefulSet): string {
  return `${String(status?.readyReplicas ?? 0)}/${String(spec.replicas ?? 0)}`;
}
