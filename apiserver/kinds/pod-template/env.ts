import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';
import { ENV_FIELDS, validateFieldRef, validateResourceFieldRef } from './downward-api';
import type { Rule } from '../rules/primitives';
import {
  configKeyProblems,
  forEachItem,
  invalidForEach,
  optionalForm,
  requiredText,
} from '../rules/primitives';

/** The `env` of a container. */
export function validateEnv(value: unknown, path: string): FieldError[] {
  return forEachItem(records(value), path, (variable, at) => [
    ...requiredText(variable['name'], `${at}.name`, envNameProblems),
    ...validateValueFrom(variable, `${at}.valueFrom`),
  ]);
}

/** The `envFrom` of a container. */
export function validateEnvFrom(value: unknown, path: string): FieldError[] {
  return forEachItem(records(value), path, (source, at) => {
    const given = ['configMapRef', 'secretRef'].filter((name) => optionalRecord(source[name]) !== undefined);
    return [
      ...optionalForm(source['prefix'], `${at}.prefix`, envNameProblems),
      ...given.flatMap((name) =>
        requiredText(record(source[name])['name'], `${at}.${name}.name`, dns1123SubdomainProblems),
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

const keyRef: Rule = (value, path) => {
  const reference = record(value);
  const name = text(reference['name']);
  return [
    ...invalidForEach(dns1123SubdomainProblems(name), name, `${path}.name`),
    ...requiredText(reference['key'], `${path}.key`, configKeyProblems),
  ];
};

const SOURCES: Readonly<Record<string, Rule>> = {
  fieldRef: (value, path) => validateFieldRef(value, path, ENV_FIELDS),
  resourceFieldRef: (value, path) => validateResourceFieldRef(value, path, { inVolume: false }),
  configMapKeyRef: keyRef,
  secretKeyRef: keyRef,
};

function validateValueFrom(variable: Json, path: string): FieldError[] {
  const source = optionalRecord(variable['valueFrom']);
  if (source === undefined) return [];
  const given = Object.entries(SOURCES).filter(([name]) => optionalRecord(source[name]) !== undefined);
  const errors = given.flatMap(([name, rule]) => rule(source[name], `${path}.${name}`));
  if (given.length === 0) {
    const names = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    return [...errors, invalid(path, '', names)];
  }
  if (text(variable['value']) !== '') {
    return [...errors, invalid(path, '', 'may not be specified when `value` is not empty')];
  }
  if (given.length > 1) {
    return [...errors, invalid(path, '', 'may not have more than one field specified at a time')];
  }
  return errors;
}

/** `Required` for a reference without a name, where the reference is there at all. */
export function namedReference(value: unknown, path: string): FieldError[] {
  const reference = optionalRecord(value);
  return reference !== undefined && text(reference['name']) === '' ? [required(`${path}.name`)] : [];
}
