"""A small good file of each table of each format."""

SAMPLES: dict[str, list[bytes]] = {
    "philly_derived": [
        b"timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:45,66.0,1,66.0,11cb48\n"
        b"2017-10-01 00:00:45,66.0,2,132.0,e1\n",
    ],
    "philly": [
        b'[{"status":"Pass","vc":"6214e9","jobid":"application_1_1","attempts":[{"start_time":"2017-10-07 01:22:58",'
        b'"end_time":"2017-10-07 02:20:01",'
        b'"detail":[{"ip":"m47","gpus":["gpu0","gpu1"]}]},{"start_time":"2017-10-07 02:30:00",'
        b'"end_time":"2017-10-07 02:40:00","detail":[]}],'
        b'"submitted_time":"2017-10-07 01:22:28","user":"ce2a00"},{"status":"Killed","vc":"a","jobid":"x",'
        b'"attempts":[],"submitted_time":"2017-10-07 01:00:00","user":"u"}]',
        b"m31,8, 24GB\nm47,2, 12GB\n",
    ],
    "philly_vc": [b"vc,node num\n6214e9,10\n103959,2\n"],
    "helios": [
        b"job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        b"1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0\n"
        b"1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n"
        b"3,u,v,0,4,1,CANCELLED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n",
        b"date,vcA,vcB,total\n2020-04-01,8,16,24\n2020-04-02,0,24,24\n2020-04-03,12,16,28\n",
    ],
    "pai": [
        b"j1,i1,u1,Terminated,100.0,260.0\nj2,i2,u2,Running,120.0,\nj3,i3,u1,Failed,130.0,150.0\n",
        b"j1,worker,2.0,Terminated,110.0,250.0,600.0,29.3,50.0,T4\nj1,ps,1.0,Terminated,110.0,250.0,400.0,10.0,,\n"
        b"j3,worker,1.0,Failed,131.0,150.0,600.0,29.3,100.0,V100\n",
        b"j1,worker,n1,w1,i1,Terminated,112.0,248.0,m1\nj1,worker,n2,w2,i1,Terminated,113.0,249.0,m1\n",
        b"m1,T4,96.0,512.0,2.0\nm2,CPU,64.0,384.0,0.0\n",
        b"i1,u1,T4,g1,bert\ni3,u1,,g2,graphlearn\n",
    ],
    "openb_nodes": [b"sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\nn1,32000,131072,0,\n"],
    "openb_pods": [
        b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
        b"scheduled_time\n"
        b"p0,12000,16384,1,1000,,LS,Running,0,100,0\np1,6000,12288,1,460,V100M16|V100M32,BE,Pending,5,100,\n"
        b"p2,1,1,0,0,,BE,Failed,7,9,8\n"
    ],
    "google2011": [
        b"0,,3418309,0,hIN4,3,a,b\n700000000,,3418314,0,u,0,a,b\n700500000,,3418314,1,u,0,a,b\n"
        b"900000000,,3418314,4,u,0,a,b\n",
        b"700000000,,3418314,0,,0,u,0,9,0.125,0.07446,0.0004244,0\n"
        b"700600000,,3418314,0,3938719206,1,u,0,9,0.125,0.07446,0.0004244,0\n"
        b"800000000,,3418314,0,3938719206,4,u,0,9,0.125,0.07446,0.0004244,0\n"
        b"700700000,,3418314,1,12,1,u,0,9,0.125,0.07446,0.0004244,0\n",
    ],
    "sacct": [
        b"JobID|JobName|Partition|User|State|Submit|Start|End|Elapsed|AllocTRES|NCPUS|NNodes|ReqMem\n"
        b"12|train|gpu|ann|COMPLETED|2026-11-20T10:00:00|2026-11-20T10:00:05|2026-11-20T11:00:05|01:00:00|billing=8,"
        b"cpu=8,gres/gpu=4,mem=32G,node=1|8|1|32G\n"
        b"12.batch|batch|||COMPLETED|2026-11-20T10:00:05|2026-11-20T10:00:05|2026-11-20T11:00:05|01:00:00|cpu=8|8|1|\n"
        b"13_4|sweep|gpu|bob|CANCELLED by 1000|2026-11-20T10:10:00|Unknown|2026-11-20T10:20:00|00:00:00||4|1|4Gn\n"
        b"14|x|gpu|bob|TIMEOUT|2026-11-20T10:10:00|2026-11-20T10:11:00|2026-11-21T12:11:00|1-02:00:00|cpu=4,"
        b"gres/gpu:a100=1,mem=4096M|4|1|4Gc\n"
    ],
    "swf": [
        b"; MaxNodes: 16\n; MaxProcs: 128\n; UnixStartTime: 749458803\n"
        b"1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n2 1460 5 3726 64 -1 -1 -1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n",
        b"1\tnode a\t16\t8\t1.0\t1024\n",
    ],
    "tiresias": [
        b"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\r\n1,4,10,100,vgg16,121,5\r\n"
        b"2,1,15,100,resnet50,200,0\r\n",
    ],
    "chronus": [
        b"job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,"
        b"best_effort,job_type\n"
        b"0,vc_a,1,8555,5049,vgg16,747,14,1105,10,0,strict\n1,vc_b,8,8550,7309,resnet101,122,12,9176,10,1,best\n"
        b"2,vc_a,1,8560,9218,vgg16,33,5,98-148-168-208,10-8-5-2,0,soft\n"
    ],
    "muri": [
        b"job_id,num_gpu,submit_time,iterations,model_name,duration,interval,batch_size,iteration_time,"
        b"resource_time_0,resource_time_1,resource_time_2,priority\n"
        b"1,4,10000,100,vgg16,121000,5,16,1210,1.5,2,3.5,0\n2,1,15000,100,bert,20000,0,8,200,1,2,3,0\n"
    ],
    "gavel": [
        b"ResNet-18 (batch size 32)\tpython3 main.py --data_dir=%s/cifar10 --batch_size 32 \t--num_steps\t1\t6523"
        b"\t219316.000000\t1\n"
        b"A3C\tpython3 main.py --env %s\t--max-steps\t0\t3000\t219320.500000\t4\n"
    ],
    "elasticflow": [
        b"job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
        b"1,3715485,100,vgg16,3716000,64,4,500\n2,3715490,100,bert,3715500,16,1,300\n",
    ],
    "cluster_spec": [
        b"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,16,4,64,256",
        b'{"cluster_specs": ["8:0:4"]}',
    ],
    "sacct_json": [
        b'{"meta": {"plugin": {}}, "errors": [], "jobs": [{"job_id": 12, "array": {"job_id": 0, "task_id": null}, '
        b'"association": {"user": "ann"}, "het": {"job_id": 0, "job_offset": null}, "partition": "gpu", "state": '
        b'{"current": ["COMPLETED"]}, "time": {"elapsed": 3600, "end": 1795304932, "start": 1795301332, "submission": '
        b'1795301300, "limit": {"set": true, "infinite": false, "number": 90}}, "tres": {"allocated": [{"type": "cpu", '
        b'"name": "", "count": 8}, {"type": "mem", "name": "", "count": 16384}, {"type": "gres", "name": "gpu", '
        b'"count": '
        b'2}]}},\n{"job_id": 15, "state": {"current": "PENDING"}, "time": {"submission": 1795301400}, "tres": {}}]}\n'
    ],
    "sge": [
        b"# Version: 2011.11\n"
        b"gpu.q:node1:users:ann:train:41:sge:0:1700000000:1700000060:1700003660:0:0:3600:10.0:1.0"
        b":0:0:0:0:0:0:0:0:0:0:0:0"
        b":0:0:0:NONE:defaultdepartment:smp:8:0:20.0:1.0:0.0:-l gpu=2,h_rt=7200 -pe smp 8:0.0:NONE:1000.0:0:0\n"
        b"cpu.q:node2:users:bob:a:42:sge:0:1700000100:1700000160:1700000760:0:0:600:10.0:1.0:0:0:0:0:0:0:0:0:0:0:0:0"
        b":0:0:0:NONE:defaultdepartment:NONE:1:3:20.0:1.0:0.0:-l gpu=1:0.0:NONE:1000.0:0:0\n"
    ],
    "pbs": [
        b"11/14/2023 22:13:20;Q;41.srv;queue=gpu\n"
        b"11/14/2023 23:14:20;E;41.srv;user=ann group=g jobname=train queue=gpu ctime=1700000000 qtime=1700000000 "
        b"etime=1700000000 start=1700000060 exec_host=n1/0*8+n2/0*8 Resource_List.ncpus=16 Resource_List.ngpus=4 "
        b"Resource_List.mem=64gb Resource_List.walltime=02:00:00 session=1 end=1700003660 Exit_status=0\n"
        b"11/14/2023 23:15:20;D;43.srv;requestor=ann@srv\n"
    ],
    "lsf": [
        b'"JOB_FINISH" "10.108" 1700003660 41 1501 33554450 2 1700000000 0 1700007260 1700000060 "ann" "gpu" '
        b'"rusage[ngpus_physical=2.00]" "" "" "h0" "/home" "" "/out" "" "1700000000.41" 0 2 "n1" "n1" 64 100.0 "train" '
        b'"python x" 0.17 0.04 112800 0 -1 0 0 27278 4 0 936 32 -1 0 0 0 87 2 -1 "" "default" 0 2 "" "" 0 108544 0 ""\n'
        b'"EVENT_ADRSV_FINISH" "10.108" 1700003661 1700000000 0 7 "ann" "" "" 0 ""\n'
    ],
    "bacct": [
        b"\nAccounting information about jobs that are:\n  - submitted by all users.\n" + b"-" * 78 + b"\n\n"
        b"Job <41>, User <ann>, Project <default>, Status <DONE>, Queue <gpu>, Comma\n"
        b"                     nd <python x>\n"
        b"Tue Nov 14 22:13:20 2023: Submitted from host <h0>, CWD <$HOME>, Requested GPU <num=\n"
        b"                     2:mode=shared>;\n"
        b"Tue Nov 14 22:14:20 2023: Dispatched 8 Task(s) on Host(s) <8*n1>, Allocated 8 Slot(s) on\n"
        b"                     Host(s) <8*n1>;\n"
        b"Tue Nov 14 23:14:20 2023: Completed <done>.\n\nAccounting information about this job:\n"
        b"     CPU_T     WAIT     TURNAROUND   STATUS     HOG_FACTOR    MEM    SWAP\n"
        b"      0.19       60           3660     done         0.0012     4M      5M\n"
    ],
    "kubectl": [
        b'{"apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w0", '
        b'"namespace": "ml", '
        b'"uid": "u0", "creationTimestamp": "2026-11-22T00:00:00Z"}, "spec": {"nodeName": "n1", "containers": '
        b'[{"name": '
        b'"c", "resources": {"requests": {"cpu": "500m", "memory": "16Gi", "nvidia.com/gpu": "1"}}}]}, "status": '
        b'{"phase": "Succeeded", "startTime": "2026-11-22T00:00:10Z", "containerStatuses": [{"state": {"terminated": '
        b'{"finishedAt": "2026-11-22T01:00:10Z"}}}]}},\n{"apiVersion": "v1", "kind": "Node", "metadata": '
        b'{"name": "n1"}, '
        b'"status": {"allocatable": {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": "8"}}}], "kind": "List"}\n'
    ],
    "shockwave": [
        b"LM (batch size 10)\tpython3 main.py --data %s/w --batch_size 10\tlanguage_modeling\t--steps\t1\t134583\t1"
        b"\tgns\t1\t-1.000000\t1418\t0\n"
        b"ResNet-18 (batch size 64)\tpython3 main.py --batch_size 64\timage\t--num_steps\t1\t45353\t4\tstatic\t1"
        b"\t-1.000000\t2116\t172\n"
    ],
    "pollux": [
        b"name,time,application,num_replicas,batch_size\n"
        b"cifar10-0,107,cifar10,4,4096\nimagenet-1,110.5,imagenet,16,3200\n"
    ],
    "acme": [
        b"job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,"
        b"end_time,fail_time,stop_time,duration,queue,gpu_time\n"
        b"dlc1,u1,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
        b"2023-05-17 11:01:16+00:00,2023-05-17 11:01:16+00:00,,18,10.0,1152.0\n"
        b"dlc2,u2,1,8,128,100,100.0,Eval,COMPLETED,2023-05-17 11:28:42+00:00,2023-05-17 11:28:54+00:00,"
        b"2023-05-17 11:30:04+00:00,,2023-05-17 11:30:04+00:00,82,12.0,656.0\n"
    ],
    "spot_nodes": [b"gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,n0\nH800,8,192,n1\n"],
    "jobs_jsonl": [b'{"id":"a","arrival_ms":0,"epochs":2}\n{"id":"b","arrival_ms":5,"worker":{"gpu":0.5}}\n'],
    "jobs_csv": [
        b"id,arrival_ms,epochs,worker.gpu,utility.priority,utility.sensitivity,utility.target_slots,provenance\n"
        b"a,0,2,0.5,1,0,2,epochs=trace\nb,7,,,,,,\n",
    ],
    "jobs_swf": [
        b'; Version: 2.2\n; TwinJob: {"id":"a","arrival_ms":1600}\n'
        b'1 2 -1 -1 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n',
    ],
    "mapped_csv": [b"job;submitted;took;cards\na;5;10;2\nb;7;1.5;\n"],
}  # fmt: skip
MAPPING = {"id": "job", "arrival": "submitted", "run": "took", "gpus": "cards"}
