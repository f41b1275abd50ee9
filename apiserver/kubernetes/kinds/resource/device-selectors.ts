import { apiLevel } from '../../../../shared/api-level';
import type { DeviceSelector } from '../../../../shared/api/types/resource-v1';
import { SELECTOR_COST_MAX, SelectorCompiler } from '../../../../shared/cel/devices/selectors';
import type { SelectorProblem } from '../../../../shared/cel/devices/selectors';
import { ALL_RELEASES } from '../../../../shared/cel/environment';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  forbiddenField,
  internalError,
  invalid,
  required,
  tooLong,
} from '../../../../shared/errors/field-error';
import type { WriteInfo } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { keepSourceWithin } from '../rules/expression-bounds';
import { limitedList } from './lists';

const SELECTORS_MAX = 32;
const EXPRESSION_BYTES_MAX = 10 * 1024;

/** Validates the selectors of one object (k8s.io/kubernetes `apis/resource/validation`, `validateSelectorSlice`). */
export class SelectorValidator {
  readonly #info: Pick<WriteInfo, 'settings' | 'bounds'>;
  /** What each expression compiled to: requests of one claim often have the same ones. */
  readonly #known = new Map<string, number | SelectorProblem>();
  #compiler: SelectorCompiler | undefined;
  #characters = 0;
  readonly #release: number;

  /**
   * @param isStored whether the stored object has the same selectors: such ones may use all libraries. New ones may use those of the release
   *   before the API level, so that an older replica can evaluate them, too.
   */
  constructor(info: Pick<WriteInfo, 'settings' | 'bounds'>, isStored = false) {
    this.#info = info;
    this.#release = isStored ? ALL_RELEASES : apiLevel - 1;
  }

  /** Validates the selectors of a request or a class. */
  validate(selectors: readonly DeviceSelector[] | undefined, path: string): FieldError[] {
    return limitedList(selectors, path, {
      max: SELECTORS_MAX,
      rule: ({ cel }, at) =>
        cel === undefined
          ? [required(`${at}.cel`)]
          : this.#expression(cel.expression, `${at}.cel.expression`),
    });
  }

  #expression(source: string, path: string): FieldError[] {
    if (Buffer.byteLength(source) > EXPRESSION_BYTES_MAX) return [tooLong(path, '', EXPRESSION_BYTES_MAX)];
    const compiled = this.#compile(source);
    if (typeof compiled === 'number')
      return compiled > SELECTOR_COST_MAX ? [forbiddenField(path, 'too complex, exceeds cost limit')] : [];
    const { kind, detail } = compiled;
    return [kind === 'invalid' ? invalid(path, source, detail) : internalError(path, detail)];
  }

  #compile(source: string): number | SelectorProblem {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    this.#characters += source.length;
    keepSourceWithin(this.#info.bounds, this.#characters);
    const { settings } = this.#info;
    this.#compiler ??= new SelectorCompiler(this.#release, {
      hasConsumableCapacity: isOn(settings, 'DRAConsumableCapacity'),
      hasListAttributes: isOn(settings, 'DRAListTypeAttributes'),
    });
    const compiled = this.#compiler.compile(source);
    this.#known.set(source, compiled);
    return compiled;
  }
}
