// The context key `plannerRulesOff`.

import { ServiceError } from '../../../../base/errors.js';
import { describeValue } from '../../../../base/json.js';
import { nearestName } from '../../../../base/nearest-name.js';
import { RULES } from './rules.js';

const NAMES = RULES.map(({ name }) => name);

/**
 * The context key `plannerRulesOff`: names of rules in a list, or in a text with commas between them. Answers are the
 * same without a rule; which one makes a plan slow, or an answer wrong, is found by leaving it out.
 * @throws ServiceError `query_invalid` naming what is no rule
 */
export function readRulesOff(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const names: unknown = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(names)) throw refusal(`a list of rules or a string with commas between them, found ${describeValue(value)}`);
  return names.map((name: unknown) => {
    if (typeof name === 'string' && NAMES.includes(name)) return name;
    const nearest = typeof name === 'string' ? nearestName(name, NAMES) : undefined;
    const hint = nearest === undefined ? `expected some of ${NAMES.join(', ')}` : `did you mean "${nearest}"?`;
    throw refusal(`${describeValue(name)} is no rule; ${hint}`);
  });
}

function refusal(what: string): ServiceError {
  return new ServiceError('query_invalid', `context.plannerRulesOff: ${what}`);
}
