import { describeTranscripts } from './describe-transcripts';

describeTranscripts('docs/reference/cli-operations.md', { hosted: true });
