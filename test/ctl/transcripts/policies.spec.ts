import { describeTranscripts } from './describe-transcripts';

describeTranscripts('docs/guides/policies.md', { hosted: true });
