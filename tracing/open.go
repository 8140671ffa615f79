package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// queueMax is how many ended spans may wait for the collector, about 2 KB each; more are dropped.
	queueMax = 8192
	// batchMax is how many go in one post.
	batchMax = 512
	// batchDelay is how long a span may wait for others to go with.
	batchDelay = 2 * time.Second
	// exportTimeMax bounds a batch with all its repetitions; then it is lost.
	exportTimeMax = 30 * time.Second
	// Close waits for the collector for as long as its context says, but no less and no more than this: what
	// came before it in a shutdown may have used up all the time.
	closeTimeMin = 500 * time.Millisecond
	closeTimeMax = 5 * time.Second
)

// pipeline is what is between the spans and the collector.
type pipeline struct {
	provider *sdktrace.TracerProvider
	exporter *exporter
	losses   *losses
}

// Open returns a tracer that exports to a collector. It does not wait for it. Close ends the tracer.
func Open(o Options) (*Tracer, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	described, err := describe(o)
	if err != nil {
		return nil, err
	}
	p := &pipeline{losses: &losses{logger: o.Logger}}
	p.exporter = newExporter(o, p.losses)
	batches := sdktrace.NewBatchSpanProcessor(p.exporter,
		sdktrace.WithMaxQueueSize(queueMax), sdktrace.WithMaxExportBatchSize(batchMax),
		sdktrace.WithBatchTimeout(batchDelay), sdktrace.WithExportTimeout(exportTimeMax))
	share := newRatio(o.Ratio)
	p.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sampler{sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))}),
		sdktrace.WithIDGenerator(ids{}), sdktrace.WithResource(described),
		sdktrace.WithSpanProcessor(&gate{SpanProcessor: batches, waiting: &p.exporter.waiting, losses: p.losses}))
	return &Tracer{spans: p.provider.Tracer(scope), ratio: share, hasRoot: true, pipeline: p}, nil
}

// describe returns what the spans say of this process. The variables OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES, which the library reads, have the last word.
func describe(o Options) (*resource.Resource, error) {
	all := []attribute.KeyValue{attribute.String("service.name", "carillon")}
	if o.Version != "" {
		all = append(all, attribute.String("service.version", o.Version))
	}
	if o.Node != "" {
		all = append(all, attribute.String("service.instance.id", o.Node))
	}
	described, err := resource.Merge(resource.NewSchemaless(all...), resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("traces: describe this process: %w", err)
	}
	return described, nil
}

// Close sends what waits, for as long as ctx allows but at least half a second and at most 5, and ends the exporter. What is
// then left is lost, and the log says how much. It may be called once; after that spans go nowhere. Of
// a tracer that [New] made the provider is the caller's, and Close does nothing.
func (t *Tracer) Close(ctx context.Context) {
	p := t.pipeline
	if p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeMax)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.provider.Shutdown(context.Background()) // what the exporter loses is counted there
	}()
	select {
	case <-ended:
	case <-time.After(closeTimeMin):
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	p.exporter.stop() // so that Shutdown ends
	<-ended
	p.losses.tell()
}

// Lost returns how many spans have been lost so far: dropped because too many waited, or refused by the
// collector, or not taken in time.
func (t *Tracer) Lost() uint64 {
	if t.pipeline == nil {
		return 0
	}
	return t.pipeline.losses.count()
}
