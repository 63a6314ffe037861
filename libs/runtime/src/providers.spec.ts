import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { systemClock, type Clock } from './clock';
import { injectFrom, injectionToken, provideFrom } from './providers';

class Journal {
  readonly lines: string[] = [];
}

class Report {
  constructor(
    readonly clock: Clock,
    readonly journal: Journal,
    readonly title: string,
  ) {}
}

const CLOCK = injectionToken<Clock>('Clock');
const TITLE = injectionToken<string>('Title');
const SOURCES = { clock: CLOCK, journal: Journal, title: TITLE };

const clock = provideFrom(CLOCK, {}, () => systemClock);
const journal = provideFrom(Journal, {}, () => new Journal());
const title = provideFrom(TITLE, { clock: CLOCK }, async (values) => `since ${values.clock === systemClock}`);
const report = provideFrom(Report, SOURCES, (values) => new Report(values.clock, values.journal, values.title));

@Module({})
class ReportModule {
  constructor(@Inject(Report) readonly report: Report) {}

  static of(...providers: NonNullable<DynamicModule['providers']>): DynamicModule {
    return { module: ReportModule, providers };
  }
}

function start(module: DynamicModule) {
  return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
}

it('gives a factory the values of its tokens by name, in whatever order they are', async () => {
  const context = await start(ReportModule.of(report, title, journal, clock));
  const made = context.get(ReportModule).report;
  expect(made).toBeInstanceOf(Report);
  expect(made.clock).toBe(systemClock);
  expect(made.journal).toBe(context.get(Journal));
  expect(made.title).toBe('since true');
  await context.close();
});

it('names the provider that is missing, and the one that lacks it', async () => {
  await expect(start(ReportModule.of(report, title, journal))).rejects.toThrow(/Symbol\(Title\).*Symbol\(Clock\)/s);
  await expect(start(ReportModule.of(report, title, clock))).rejects.toThrow(/Report.*Journal/s);
});

it('gives a module the factory of its options', () => {
  const { inject, useFactory } = injectFrom(SOURCES, (values) => `${values.title} ${values.journal.lines.length}`);
  expect(inject).toEqual([CLOCK, Journal, TITLE]);
  expect(useFactory(systemClock, new Journal(), 'lines:')).toBe('lines: 0');
});

it('makes tokens that are equal to no other', () => {
  expect(injectionToken<string>('Title')).not.toBe(TITLE);
  expect(String(TITLE)).toBe('Symbol(Title)');
});

it('does not compile with a wrong name or a wrong type', () => {
  const compiled = [
    // @ts-expect-error no token has this name
    () => injectFrom({ clock: CLOCK }, ({ time }) => time),
    // @ts-expect-error a clock is no text
    () => injectFrom({ clock: CLOCK }, ({ clock: text }: { readonly clock: string }) => text),
    // @ts-expect-error an object of this class has no such method
    () => injectFrom({ journal: Journal }, ({ journal: read }) => read.close()),
    // @ts-expect-error the token is one of texts
    () => provideFrom(TITLE, {}, () => 7),
    // @ts-expect-error the same, by a promise
    () => provideFrom(TITLE, {}, async () => 7),
    // @ts-expect-error the clock lacks what the token promises
    () => provideFrom(CLOCK, {}, (): Pick<Clock, 'now'> => systemClock),
    // @ts-expect-error a symbol that knows no type is no token
    () => injectFrom({ clock: Symbol('Clock') }, ({ clock: unknown }) => unknown),
    // @ts-expect-error a token of clocks is none of texts
    (): typeof TITLE => CLOCK,
  ];
  expect(compiled).toHaveLength(8);
});
