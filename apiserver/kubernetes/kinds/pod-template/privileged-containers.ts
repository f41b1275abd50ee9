import type { Container, PodSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField } from '../../../../shared/errors/field-error';
import type { KindSettings } from '../../../engine/registry/strategy';
import { forEachItem } from '../rules/primitives';

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** `Forbidden` for each privileged container of a pod's spec, where the operator does not allow any. `path` is that of the spec. */
export function privilegeRule(
  spec: PodSpec,
  {
    path,
    settings,
    lists = LISTS,
  }: {
    readonly path: string;
    readonly settings: KindSettings;
    readonly lists?: readonly (typeof LISTS)[number][];
  },
): readonly FieldError[] {
  if (settings.allowPrivileged) return [];
  return lists.flatMap((list) =>
    forEachItem<Container>(spec[list] ?? [], `${path}.${list}`, ({ securityContext }, at) =>
      securityContext?.privileged === true
        ? [forbiddenField(`${at}.securityContext.privileged`, 'disallowed by cluster policy')]
        : [],
    ),
  );
}
