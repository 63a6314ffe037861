import { describeTranscripts } from './describe-transcripts';

// Each command as its user runs it; the other pages run theirs within the test where they can.
describeTranscripts('docs/reference/cli.md');
