import { describeTranscripts } from './describe-transcripts';

// Runs each command as its user does; other pages run theirs within the test if possible.
describeTranscripts('docs/reference/cli.md');
