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
	// queueMax bounds the ended spans that wait for the collector, about 2 KB each, so 16 MB; more are
	// dropped. A larger value bridges a longer outage of the collector and costs memory during it.
	queueMax = 8192
	// batchMax is the largest number of spans in one post. A larger batch means fewer posts, but also
	// more spans that are lost together if one post fails for good.
	batchMax = 512
	// batchDelay is the longest time that a span waits for others of its batch. A crash loses the spans
	// that wait.
	batchDelay = 2 * time.Second
	// exportTimeMax bounds the time for a batch with all its posts; after it the batch is lost. The
	// batches behind it wait meanwhile.
	exportTimeMax = 30 * time.Second
	// closeTimeMin and closeTimeMax bound how long Close waits for the collector, whatever its context says.
	// The minimum is for a shutdown whose earlier steps have used up all the time.
	closeTimeMin = 500 * time.Millisecond
	closeTimeMax = 5 * time.Second
)

// pipeline is the path of spans from their end to the collector.
type pipeline struct {
	provider *sdktrace.TracerProvider // makes the spans, and owns the gate and the queue
	exporter *exporter
	losses   *losses // shared by gate and exporter
}

// Open returns a tracer that exports to a collector. It does not connect to the collector, so a collector
// that is down never keeps a scheduler from starting. An error is one of Options.Validate, or of the
// description of this process. The caller must call Close.
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

// describe returns the attributes of this process, which every span has. The environment variables
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, which the library reads, override them.
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

// Close exports the waiting spans and ends the exporter. It returns when they are exported; until then it
// waits as long as ctx allows, but at least half a second and at most 5. The spans that are left then are
// lost, and logged. It may be called once; later spans are not exported. For a tracer of [New], Close does
// nothing, because the caller owns the provider.
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
		_ = p.provider.Shutdown(context.Background()) // the exporter counts what it loses
	}()
	select {
	case <-ended:
	case <-time.After(closeTimeMin):
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	p.exporter.stop() // ends the post under way, so that Shutdown returns
	<-ended
	p.losses.log()
}

// Lost returns the number of spans lost so far: dropped because too many waited, refused by the
// collector, or not accepted in time. For a tracer of [New] it is 0.
func (t *Tracer) Lost() uint64 {
	if t.pipeline == nil {
		return 0
	}
	return t.pipeline.losses.count()
}
