import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  LocalObjectReference,
  PodSpec,
  SecretKeySelector,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notFoundField, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { subdomainName } from '../../../../shared/meta/name-rules';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { envFields, validateFieldRef, validateResourceFieldRef } from './downward-api';
import { byLaterRule } from './later-rules';
import { forEachContainer } from './operating-system';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import {
  configKeyProblems,
  forEachItem,
  invalidForEach,
  pathWithoutBacksteps,
  requiredText,
} from '../rules/primitives';

/** The `env` of a container. */
export function validateEnv(
  variables: readonly EnvVar[] | undefined,
  path: string,
  settings: KindSettings,
): FieldError[] {
  return forEachItem(variables ?? [], path, (variable, at) => [
    ...(variable.name === '' ? [required(`${at}.name`)] : envName(variable.name, `${at}.name`, settings)),
    ...validateValueFrom(variable, `${at}.valueFrom`, settings),
  ]);
}

const ENV_FROM = ['configMapRef', 'secretRef'] as const;

/** The `envFrom` of a container. */
export function validateEnvFrom(
  sources: readonly EnvFromSource[] | undefined,
  path: string,
  settings: KindSettings,
): FieldError[] {
  return forEachItem(sources ?? [], path, (source, at) => {
    const given = ENV_FROM.filter((name) => source[name] !== undefined);
    return [
      ...((source.prefix ?? '') === '' ? [] : envName(source.prefix ?? '', `${at}.prefix`, settings)),
      ...given.flatMap((name) =>
        // As upstream, where such a name may be the beginning of one.
        requiredText(source[name]?.name, `${at}.${name}.name`, (text) => subdomainName(text, true)),
      ),
      // Upstream names the whole list here.
      ...(given.length === 0
        ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(given.length > 1
        ? [invalid(path, '', 'may not have more than one field specified at a time')]
        : []),
    ];
  });
}

const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;

const RELAXED_NAME = /^[ -<>-~]+$/;

/** Any name that the environment of a process can hold: printable ASCII without an equals sign. */
function relaxedNameProblems(value: string): string[] {
  const form =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return RELAXED_NAME.test(value) ? [] : [form];
}

/** The name of an environment variable, or the beginning of one. */
function envName(value: string, path: string, settings: KindSettings): readonly FieldError[] {
  const relaxed = relaxedNameProblems(value);
  if (isOn(settings, 'RelaxedEnvironmentVariableValidation')) return invalidForEach(relaxed, value, path);
  const errors = invalidForEach(envNameProblems(value), value, path);
  return relaxed.length === 0 ? byLaterRule('names of variables', errors) : errors;
}

/** The name of an environment variable, as widely as shells and programs may use it. */
function envNameProblems(value: string): string[] {
  const problems: string[] = [];
  if (!ENV_NAME.test(value)) {
    problems.push(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
    );
  }
  if (value === '.') problems.push("must not be '.'");
  else if (value === '..') problems.push("must not be '..'");
  else if (value.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

function keyRef({ name = '', key }: SecretKeySelector, path: string): FieldError[] {
  return [
    ...invalidForEach(dns1123SubdomainProblems(name), name, `${path}.name`),
    ...requiredText(key, `${path}.key`, configKeyProblems),
  ];
}

const SOURCES: MemberRules<EnvVarSource> = {
  fieldRef: (reference, path) => validateFieldRef(reference, path, envFields()),
  resourceFieldRef: (reference, path) => validateResourceFieldRef(reference, path, { inVolume: false }),
  configMapKeyRef: keyRef,
  secretKeyRef: keyRef,
  fileKeyRef,
};

/** A variable in a file that another container of the pod writes. */
function fileKeyRef({ key, volumeName, path: file }: FileKeySelector, path: string): FieldError[] {
  return [
    ...requiredText(key, `${path}.key`, relaxedNameProblems),
    ...requiredText(volumeName, `${path}.volumeName`, dns1123LabelProblems),
    ...(file === '' ? [required(`${path}.path`)] : pathWithoutBacksteps(file, `${path}.path`)),
  ];
}

/** Files with variables are in volumes of the pod that go with it. `path` is that of the spec. */
export function validateFileKeyVolumes(spec: PodSpec, path: string): FieldError[] {
  const { volumes = [] } = spec;
  return forEachContainer(spec, path, ({ env = [] }, at) =>
    forEachItem(env, `${at}.env`, ({ valueFrom }, place) => {
      const name = valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return [];
      const field = `${place}.valueFrom.fileKeyRef.volumeName`;
      const volume = volumes.findLast((each) => each.name === name);
      if (volume === undefined) return [notFoundField(field, name)];
      return volume.emptyDir === undefined
        ? [invalid(field, name, 'referenced volume must be of type emptyDir')]
        : [];
    }),
  );
}

function validateValueFrom(
  { value = '', valueFrom: source }: EnvVar,
  path: string,
  settings: KindSettings,
): FieldError[] {
  if (source === undefined) return [];
  const given = membersOf(source, SOURCES);
  const errors = given.flatMap((name) => memberErrors(source, name, SOURCES, `${path}.${name}`));
  if (given.length === 0) {
    const names = isOn(settings, 'EnvFiles')
      ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
      : 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    return [...errors, invalid(path, '', names)];
  }
  if (value !== '') {
    return [...errors, invalid(path, '', 'may not be specified when `value` is not empty')];
  }
  if (given.length > 1) {
    return [...errors, invalid(path, '', 'may not have more than one field specified at a time')];
  }
  return errors;
}

/** `Required` for a reference without a name, where the reference is there at all. */
export function namedReference(reference: LocalObjectReference | undefined, path: string): FieldError[] {
  return reference !== undefined && (reference.name ?? '') === '' ? [required(`${path}.name`)] : [];
}
