import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField } from '../../../shared/errors/field-error';
import type { KindSettings, Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { record, records } from '../../../shared/object/accessors';
import { forEachItem } from '../rules/primitives';

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'];

/** `Forbidden` for each privileged container of a pod's spec, where the operator does not allow any. `path` is that of the spec. */
export function privilegeRule(
  spec: Json,
  {
    path,
    settings,
    lists = LISTS,
  }: { readonly path: string; readonly settings: KindSettings; readonly lists?: readonly string[] },
): readonly FieldError[] {
  if (settings.allowPrivileged) return [];
  return lists.flatMap((list) =>
    forEachItem(records(spec[list]), `${path}.${list}`, (container, at) =>
      record(container['securityContext'])['privileged'] === true
        ? [forbiddenField(`${at}.securityContext.privileged`, 'disallowed by cluster policy')]
        : [],
    ),
  );
}

/** The strategy of a kind with a template of pods at `path` (`spec.template`), which privileged containers must not stand in either. */
export function withPrivilegeRule(strategy: Strategy, path: string): Strategy {
  const steps = [...path.split('.'), 'spec'];
  return {
    ...strategy,
    validate: (object, info) => [
      ...(strategy.validate?.(object, info) ?? []),
      ...privilegeRule(
        steps.reduce<Json>((at, step) => record(at[step]), object),
        {
          path: steps.join('.'),
          settings: info.settings,
        },
      ),
    ],
  };
}
