import { Invalid } from './domain-error';
import { FieldPath, Violations } from './violation';

const at = FieldPath.at('spec');

describe('Violations', () => {
  it('keeps the first hundred, counts all, and makes no reason beyond', () => {
    const found = new Violations();
    let made = 0;
    for (let i = 0; i < 40_000; i++) found.add(at.index(i), 'too-long', () => `reason ${++made}`);
    expect([found.first.length, found.total, made]).toEqual([100, 40_000, 100]);
    expect(found.first[99]).toEqual({ field: 'spec[99]', reason: 'reason 100', rule: 'too-long' });
  });

  it('counts what another report only counted', () => {
    const [one, other] = [new Violations(), new Violations()];
    for (let i = 0; i < 60; i++) one.add(at, 'invalid', () => 'one');
    for (let i = 0; i < 300; i++) other.add(at, 'invalid', () => 'other');
    one.merge(other);
    expect([one.first.length, one.total]).toEqual([100, 360]);
    expect(one.map((violation) => ({ ...violation, reason: 'x' })).total).toBe(360);
  });
});

describe('a violation', () => {
  it('repeats no huge name or value', () => {
    const huge = 'x'.repeat(1_000_000);
    const { field, reason } = at.field(huge).field('a').violation(`must not be "${huge}"`);
    expect([field.length < 200, reason.length < 700]).toEqual([true, true]);
    expect(field).toMatch(/^spec\["?.*\.\.\."\]\.a$|^spec\..*\.\.\..*a$/);
  });
});

describe('Invalid', () => {
  it('lists a hundred violations, says how many there are, and has a bounded message', () => {
    const violations = Array.from({ length: 5_000 }, (_, i) => at.index(i).violation('y'.repeat(500), 'too-large'));
    const error = new Invalid(violations);
    expect([error.violations.length, error.total]).toEqual([100, 5_000]);
    expect(error.message.length).toBeLessThan(5_000);
    expect(error.message).toMatch(/and 49\d\d more$/);
  });

  it('says all of few', () => {
    expect(new Invalid([at.violation('is bad'), FieldPath.at().violation('so is this')]).message).toBe(
      'spec: is bad; so is this',
    );
  });
});
